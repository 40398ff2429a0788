import { readFileSync } from "node:fs";

/** Measurements of a process so far; empty on systems other than Linux. */
export type Watch = {
  /** Resident memory in MB, twice a second. */
  readonly memory: readonly number[];
  /** The part of the time between two moments (`performance.now()`) in which the process could not run. */
  idleBetween(fromMs: number, toMs: number): number;
  stop(): void;
};

/** A moment, and the milliseconds until then in which the machine was busy. */
export type Sample = { readonly atMs: number; readonly idleMs: number };

const INTERVAL_MS = 50;
const MEMORY_EVERY = 10;
/** One minute, which is longer than a call may take. */
const KEPT = 1_200;

/**
 * Observes a server's process while this process calls it. On a busy machine, a call may take long for reasons other than
 * the server: the system had no processor for it, or this process could not read the response in time. Both times are
 * measured, so that they can be subtracted.
 */
export function watchProcess(pid: number): Watch {
  const memory: number[] = [];
  const samples: Sample[] = [];
  let ticks = 0;
  let lagMs = 0;
  let expectedAtMs = performance.now() + INTERVAL_MS;

  const look = (): Sample => {
    const sample = { atMs: performance.now(), idleMs: lagMs + waitedForProcessorMs(pid) };
    samples.push(sample);
    if (samples.length > KEPT) samples.shift();
    return sample;
  };
  const timer = setInterval(() => {
    const nowMs = performance.now();
    lagMs += Math.max(0, nowMs - expectedAtMs);
    expectedAtMs = nowMs + INTERVAL_MS;
    look();
    ticks += 1;
    const megabytes = ticks % MEMORY_EVERY === 0 ? memoryOf(pid) : undefined;
    if (megabytes !== undefined) memory.push(megabytes);
  }, INTERVAL_MS);
  look();
  return {
    memory,
    idleBetween(fromMs, toMs) {
      look();
      return idleBetween(samples, fromMs, toMs);
    },
    stop: () => clearInterval(timer),
  };
}

/** The growth between the last sample at or before the one moment and the first at or after the other. */
export function idleBetween(samples: readonly Sample[], fromMs: number, toMs: number): number {
  const before = samples.findLast(({ atMs }) => atMs <= fromMs) ?? samples[0];
  const after = samples.find(({ atMs }) => atMs >= toMs) ?? samples.at(-1);
  return before && after ? after.idleMs - before.idleMs : 0;
}

/** How long the main thread of the process was ready to run but had to wait. */
function waitedForProcessorMs(pid: number): number {
  const [, waitedNs] = read(`/proc/${pid}/schedstat`).split(" ");
  return Number(waitedNs ?? 0) / 1e6;
}

function memoryOf(pid: number): number | undefined {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1];
  return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
