import type { Logger } from "pino";

export interface Repeated {
  /** Resolves when the work has been done that was there at the call. */
  run(): Promise<void>;
  /** Ends the timer and waits for what is under way. */
  stop(): Promise<void>;
}

/**
 * Does work again and again, on a timer and whenever somebody asks; never twice at a time in this process.
 *
 * @param name what the log calls it
 */
export function repeat(
  work: () => Promise<unknown>,
  { name, everyMs, logger }: { name: string; everyMs: number; logger: Logger },
): Repeated {
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
    // Logged and tried again: what can't be done without a database is found and done with it again.
    await run().catch((error: unknown) => logger.error({ err: error }, `${name} failed`));
    schedule();
  }

  function schedule(): void {
    if (!stopped) timer = setTimeout(tick, everyMs);
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
