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
