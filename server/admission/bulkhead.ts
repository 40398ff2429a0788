/** Counts what is under way, in all and by any names, and lets in only so many with each. */
export type Bulkhead = {
  /**
   * Runs a task, if there is room for it under all its names, and in all.
   *
   * @param limits how many tasks may be under way with each name
   * @throws CrowdedError without running it, when too many are under way with one of its names, or in all and some of them have one
   *   of its names; FullError when those are all of others
   */
  run<Result>(limits: Readonly<Record<string, number>>, task: () => Promise<Result>): Promise<Result>;
  /** How many tasks are under way in all. */
  count(): number;
};

/** Too many wait, all of them of others. */
export class FullError extends Error {
  override readonly name: string = "FullError";
}

/** Too many wait, some of them with a name of the one that is refused, such as its merchant. */
export class CrowdedError extends FullError {
  override readonly name = "CrowdedError";
}

export function createBulkhead(limit: number): Bulkhead {
  const taken = new Map<string, number>();
  let total = 0;
  function change(names: readonly string[], by: 1 | -1): void {
    total += by;
    for (const name of names) {
      const count = (taken.get(name) ?? 0) + by;
      if (count === 0) taken.delete(name);
      else taken.set(name, count);
    }
  }
  return {
    count: () => total,
    async run(limits, task) {
      const names = Object.keys(limits);
      if (names.some((name) => (taken.get(name) ?? 0) >= (limits[name] ?? 0)))
        throw new CrowdedError("too many wait for the same");
      if (total >= limit)
        throw new (names.some((name) => taken.has(name)) ? CrowdedError : FullError)("too many wait");
      change(names, 1);
      try {
        return await task();
      } finally {
        change(names, -1);
      }
    },
  };
}
