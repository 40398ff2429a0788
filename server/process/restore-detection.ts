import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import type { Logger } from "pino";
import { ConfigError } from "../config/environment.ts";
import type { Store } from "../storage/open-store.ts";
import type { HighWaterMark } from "../storage/payments/high-water-mark.ts";
import type { PaymentKey } from "../storage/payments/payment-record.ts";

/**
 * Notices that the database went back to an earlier state: by a restore, or a failover to a standby that lacked data. It compares
 * the data itself: PostgreSQL's timeline also changes in a failover that loses nothing, and stays the same in a database made from a
 * dump.
 * @throws ConfigError when the file can't be read or written
 */
export async function startRestoreWatch({ store, file, logger }: RestoreWatchParts): Promise<RestoreWatch> {
  let mark = file === undefined ? undefined : await readMark(file);
  let written: string | undefined;
  // One for each server, because several may share the file.
  const draft = `${file}.${randomUUID()}`;
  /** The refund that this server responded with last, which isn't always the one with the newest id. */
  let issued: PaymentKey | undefined;

  async function check(): Promise<void> {
    const last = issued;
    // Before the comparison: if the database goes back between both, the comparison shows it.
    const present = await store.readHighWaterMark();
    const known = mark && { ...mark, refunds: last ? [...mark.refunds, last] : mark.refunds };
    const missing = known && (await store.findMissing(known));
    if (known && missing !== undefined) {
      await holdAll({ at: known.at, missing });
      if (issued === last) issued = undefined;
    }
    mark = issued ? { ...present, refunds: [...present.refunds, issued] } : present;
    if (file !== undefined) await writeMark(file, mark);
  }

  async function holdAll(lost: { at: Date; missing: string }): Promise<void> {
    if (!(await store.holdAfterRestore(lost))) return;
    const sentence = `the database went back to an earlier state and lacks ${lost.missing}, so all refunds are held: reconcile them with the payment system, then release them, as the guide “After a restore” says`;
    logger.error({ missing: lost.missing }, sentence);
  }

  async function writeMark(path: string, { at, ...content }: HighWaterMark): Promise<void> {
    const text = JSON.stringify(content);
    if (text === written) return;
    // A rename never leaves half a file, whenever the process is killed.
    await writeFile(draft, `${JSON.stringify({ at, ...content })}\n`, { mode: 0o600, flush: true });
    await rename(draft, path);
    written = text;
  }

  async function onPublished(position: number): Promise<void> {
    if (mark) mark = { ...mark, position };
    await check();
  }

  await check().catch((error: unknown) => {
    throw isFileError(error) ? unusable(error.code) : error;
  });
  return {
    check,
    onPublished,
    onLost: async (missing) => holdAll({ at: mark?.at ?? new Date(0), missing }),
    onIssued(refund) {
      issued = refund;
    },
  };
}

export type RestoreWatchParts = {
  store: Pick<Store, "readHighWaterMark" | "findMissing" | "holdAfterRestore">;
  /** The file that keeps the mark when this process ends; without it, the mark is lost then. */
  file: string | undefined;
  logger: Logger;
};

export type RestoreWatch = {
  /** Holds all refunds if the database lacks what it had at the last call, or when the server ran last. */
  check(): Promise<void>;
  /** Adds a refund that this server has issued to the mark. */
  onIssued(refund: PaymentKey): void;
  /** Moves the mark to the position of the last payout. */
  onPublished(position: number): Promise<void>;
  /** Holds all refunds, because the database lacks what the payout feed should have. */
  onLost(missing: string): Promise<void>;
};

async function readMark(file: string): Promise<HighWaterMark | undefined> {
  try {
    const { at, refunds, position } = JSON.parse(await readFile(file, "utf8")) as HighWaterMark;
    return { at: new Date(at), refunds, position };
  } catch (error) {
    if (isFileError(error) && error.code === "ENOENT") return undefined; // the first start
    throw unusable(isFileError(error) ? error.code : "it holds something other than a mark");
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && "syscall" in error && "path" in error && "code" in error;
}

function unusable(reason: string): ConfigError {
  return new ConfigError(
    `HIGH_WATER_MARK_FILE can't be used (${reason}). Name a file in a folder that servers may write to and that outlives them.`,
  );
}
