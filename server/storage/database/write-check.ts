import { isRefusedWrite, READ_ONLY } from "./database-errors.ts";

/**
 * Reads at each check whether the database is read-only. Only after a write was refused it does more: trying all the time would
 * cost more, and an idle server loses nothing by a full disk.
 */
export function createWriteCheck({ run, onChange }: WriteCheckParts): WriteCheck {
  let isSuspect = false;
  let isRefused = false;
  let checking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const rows = await run(isSuspect ? TRY_SPACE : READ_MODE, { anew: isSuspect || isRefused });
    const { refused } = rows[0] as { refused: boolean }; // both end with the same statement, which has one row
    if (refused) throw Object.assign(new Error("the database is read-only"), { code: READ_ONLY });
    isSuspect = false;
  }

  function report(refused: boolean, reason?: unknown): void {
    if (refused !== isRefused) onChange(reason);
    isRefused = refused;
  }

  async function check(): Promise<void> {
    try {
      await look();
      report(false);
    } catch (error) {
      if (isRefusedWrite(error)) report(true, error);
      throw error;
    }
  }

  return {
    note(error) {
      isSuspect ||= isRefusedWrite(error);
    },
    // Probes may come faster than they are responded to.
    check() {
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}

/** Whether the database takes writes. */
export type WriteCheck = {
  /** Notes the error of a statement: after a refused write, the next check tries whether there is space. */
  note(error: unknown): void;
  /** Rejects while the database refuses writes, or doesn't respond. */
  check(): Promise<void>;
};

type WriteCheckParts = {
  /**
   * Runs statements; resolves with the rows of the last one.
   * @param options.anew on a new connection, after all idle ones were ended: each keeps the mode in which it was opened
   */
  run(text: string, options: { anew: boolean }): Promise<readonly unknown[]>;
  /** Called with the reason when writes begin to be refused, and without one when they no longer are. */
  onChange(reason: unknown): void;
};

const READ_MODE = "select current_setting('transaction_read_only') = 'on' as refused";

/**
 * Sorts a megabyte on the disk, because an update may find room in the files although nothing can be added any more. Unlike
 * rows, it leaves nothing behind, and doesn't take the last space from refunds when it fails.
 */
const TRY_SPACE = `
  set local work_mem = '64kB';
  select md5(number::text) from generate_series(1, 15000) as number order by 1 offset 15000;
  ${READ_MODE}`;
