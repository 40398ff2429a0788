import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Waits until a program ends; after a time, or at a signal, it is killed with all that it has started. */
export async function untilExit(child: ChildProcess, timeoutMs: number, signal: AbortSignal) {
  let timedOut = false;
  const kill = () => killGroup(child.pid);
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  signal.addEventListener("abort", kill);
  if (signal.aborted) kill();
  try {
    const [code, endedBy]: (number | string | null)[] = await once(child, "exit");
    return { timedOut, code, endedBy };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
  }
}

/** Whether a program is to be started as a group of its own, so that all of it can be ended. */
export const detached = process.platform !== "win32";

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(detached ? -pid : pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
