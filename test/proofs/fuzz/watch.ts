import { readFileSync } from "node:fs";

const INTERVAL_MS = 50;
const MEMORY_MS = 500;

/**
 * Observes a server's process while this process calls it. On a busy machine, a call may take long for reasons other than
 * the server: the system had no processor for it, or this process could not read the response in time. Both times are
 * measured, so that they can be subtracted. On systems other than Linux, nothing is.
 */
export function watchProcess(pid: number) {
  /** Resident memory in MB, twice a second. */
  const memory: number[] = [];
  let lagMs = 0;
  let expectedAtMs = performance.now() + INTERVAL_MS;
  const timers = [
    setInterval(() => {
      const nowMs = performance.now();
      lagMs += Math.max(0, nowMs - expectedAtMs);
      expectedAtMs = nowMs + INTERVAL_MS;
    }, INTERVAL_MS),
    setInterval(() => memory.push(...memoryOf(pid)), MEMORY_MS),
  ];
  return {
    memory,
    /** The milliseconds so far that count for the machine, and not for the process. */
    idleMs: () => lagMs + waitedForProcessorMs(pid),
    stop: () => timers.forEach(clearInterval),
  };
}

/** How long the main thread of the process was ready to run but had to wait. */
function waitedForProcessorMs(pid: number): number {
  const [, waitedNs] = read(`/proc/${pid}/schedstat`).split(" ");
  return Number(waitedNs ?? 0) / 1e6;
}

function memoryOf(pid: number): number[] {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1];
  return kilobytes === undefined ? [] : [Math.round(Number(kilobytes) / 1024)];
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
