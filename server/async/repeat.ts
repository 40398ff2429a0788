import type { Logger } from "pino";

/**
 * Repeats work on a timer and on request, never twice at a time in this process. A failed run is repeated, and logged unless the
 * run before failed for the same reason: work that fails because there is no database succeeds when the database is back.
 */
export function repeat(
  work: () => Promise<unknown>,
  { name, everyMs, logger, onRun = () => {} }: RepeatOptions,
): Repeated {
  const run = singleFlight(async () => {
    await work();
    failure = undefined;
    onRun(name);
  });
  let failure: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let last: Promise<void> = Promise.resolve();

  function runOnce(): Promise<void> {
    const next = run();
    last = next.catch(() => {});
    return next;
  }

  async function tick(): Promise<void> {
    await runOnce().catch((error: unknown) => {
      if (String(error) !== failure) logger.error({ err: error }, `${name} failed`);
      failure = String(error);
    });
    schedule();
  }

  function schedule(): void {
    if (!stopped) timer = setTimeout(tick, everyMs);
  }

  schedule();
  return {
    run: runOnce,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await last;
    },
  };
}

export type Repeated = {
  /** Resolves when a run that began after this call has ended. Rejects with its error. */
  run(): Promise<void>;
  /** Ends the timer and waits for the run under way. */
  stop(): Promise<void>;
};

export type RepeatOptions = {
  /** For the log and the metrics. */
  name: string;
  everyMs: number;
  logger: Logger;
  /** Called after each run without an error. */
  onRun?: ((name: string) => void) | undefined;
};

/** Never runs work twice at a time. Calls during a run share the next one, because the present run may have read its data already. */
export function singleFlight(work: () => Promise<unknown>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function begin(): Promise<void> {
    next = undefined;
    current = runWork().finally(() => {
      current = undefined;
    });
    return current;
  }

  async function runWork(): Promise<void> {
    await work();
  }

  return () => {
    // Also between two runs, when the next one is due but has not begun: otherwise two would run at the same time.
    if (next) return next;
    if (!current) return begin();
    next = current.then(begin, begin);
    return next;
  };
}
