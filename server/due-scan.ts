import type { Logger } from "pino";

const INTERVAL_MS = 1_000;

export interface DueScan {
  /** Resolves when everything that was due at the call has happened. */
  run(): Promise<void>;
  /** Ends the timer and waits for a scan that is under way. */
  stop(): Promise<void>;
}

/**
 * Does what is due by the domain's clock: on a timer, and whenever somebody asks. Scans of one process follow each other;
 * those of several processes may meet, and the work itself sees to it that each thing happens once.
 */
export function startDueScan(work: () => Promise<unknown>, logger: Logger): DueScan {
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function run(): Promise<void> {
    const next = last.then(async () => {
      await work();
    });
    last = next.catch(() => {});
    return next;
  }

  async function tick(): Promise<void> {
    // Logged and tried again: without a database nothing falls due, and with it again all of it is found.
    await run().catch((error: unknown) => logger.error({ err: error }, "due scan failed"));
    schedule();
  }

  function schedule(): void {
    if (!stopped) timer = setTimeout(tick, INTERVAL_MS);
  }

  schedule();
  return {
    run,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await last;
    },
  };
}
