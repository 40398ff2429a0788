/** Five minutes of samples, two a second: garbage is collected so rarely that a shorter run shows only garbage. */
const MIN_SAMPLES = 600;
const GROWTH_SHARE = 0.15;
const GROWTH_MB = 20;

/** The memory of a server. */
export type MemoryTrend = {
  /** Medians of the third and of the last quarter of the run, in MB; undefined for a run that is too short. */
  readonly medians: readonly [third: number, last: number] | undefined;
  /** Whether it grew more than chance explains. */
  readonly grew: boolean;
};

/**
 * Whether a process kept growing in the second half of a run; in the first half, caches fill. From one quarter to the next
 * its median may grow by 15 % and 20 MB.
 *
 * @param samples resident memory in MB, at equal intervals
 */
export function assessMemory(samples: readonly number[]): MemoryTrend {
  if (samples.length < MIN_SAMPLES) return { medians: undefined, grew: false };
  const quarter = Math.floor(samples.length / 4);
  const third = median(samples.slice(2 * quarter, 3 * quarter));
  const last = median(samples.slice(3 * quarter));
  return { medians: [third, last], grew: last > third * (1 + GROWTH_SHARE) + GROWTH_MB };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
