import type { ProcessLog } from "../observability/logger.ts";

/** Closes a server at the first signal, and lets the process end. */
export function closeOnSignal(close: () => Promise<void>, { log, print, delaySeconds }: StopOptions): void {
  const kill = () => process.kill(process.pid, "SIGKILL");
  onStopSignal(async (cause) => {
    // Unreferenced, so it fires only if something in flight still keeps the process alive.
    setTimeout(kill, delaySeconds * 1000 + STOP_LIMIT_MS).unref();
    if (print) print(`Stopping (${cause}).\n`);
    else log.logger.info({ cause }, "stopping");
    await close();
    if (print) print("Stopped.\n");
    else log.logger.info("stopped");
    // False when nobody reads the log: process.exit() would then hang.
    if (!(await log.close())) kill();
  });
}

/** Milliseconds between two checks whether the process that started this one still runs. */
const PARENT_CHECK_MS = 500;

/** Read at once, because the parent may end while this process starts. */
const PARENT = process.ppid;

/**
 * Calls `stop` once, at the first SIGTERM, SIGINT or SIGHUP. Later signals are ignored: a Ctrl+C in a terminal comes twice, from
 * the terminal and from npm. Under npm it also stops when npm has ended: npm does not pass on SIGHUP, and can't pass on SIGKILL,
 * so it would leave behind a process that nobody notices.
 */
export function onStopSignal(stop: (cause: string) => void): void {
  let stopped = false;
  const stopOnce = (cause: string) => {
    if (!stopped) stop(cause);
    stopped = true;
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, stopOnce);
  if (process.env.npm_lifecycle_event === undefined) return;
  const isOrphan = () => process.ppid !== PARENT && stopOnce("npm has ended");
  setInterval(isOrphan, PARENT_CHECK_MS).unref();
}

/** How long a stop may take in total, in milliseconds: more than the limits of requests and webhook attempts in flight. */
const STOP_LIMIT_MS = 9_800;

export type StopOptions = {
  log: ProcessLog;
  /** For a sandbox: writes text for people, where production logs JSON. */
  print: ((text: string) => void) | undefined;
  /** For how long the server goes on to serve before it stops. */
  delaySeconds: number;
};
