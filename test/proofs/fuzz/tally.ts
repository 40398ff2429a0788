/** The counts of a run so far. */
export type Tally = {
  /** Requests that got a response, repeats of accepted refunds included. */
  calls: number;
  slowestMs: number;
  /** Responses by level and status. */
  readonly statuses: Map<string, Map<number, number>>;
};

export function createTally(): Tally {
  return { calls: 0, slowestMs: 0, statuses: new Map() };
}

export function count(tally: Tally, level: string, status: number, ms: number): void {
  tally.calls++;
  const ofLevel = tally.statuses.get(level) ?? new Map<number, number>();
  tally.statuses.set(level, ofLevel.set(status, (ofLevel.get(status) ?? 0) + 1));
  tally.slowestMs = Math.max(tally.slowestMs, ms);
}

/** One line for each level, and one for all together: how often each status was received. */
export function toTable({ statuses }: Tally): string {
  const all = new Map<number, number>();
  for (const counts of statuses.values()) {
    for (const [status, times] of counts) all.set(status, (all.get(status) ?? 0) + times);
  }
  return [...[...statuses].sort(([a], [b]) => (a < b ? -1 : 1)), ["all", all] as const]
    .map(([level, counts]) => {
      const cells = [...counts].sort(([a], [b]) => a - b).map(([status, times]) => `${status}: ${times}`);
      return `  ${level.padEnd(8)} ${cells.join("  ")}`;
    })
    .join("\n");
}
