/** Bounds how many tasks run at the same time: in total, and for each name that a task has, such as its merchant. */
export type Bulkhead = {
  /**
   * Runs a task if neither the total nor any of its names has reached its limit.
   *
   * @param limits the names of the task, and how many tasks with that name may run
   * @throws CrowdedError without running the task, when one of its names has reached its limit, or the total has and a running task
   *   shares a name with it; FullError when the total is reached by tasks of other names alone
   */
  run<Result>(limits: Readonly<Record<string, number>>, task: () => Promise<Result>): Promise<Result>;
  /** How many tasks are running. */
  count(): number;
};

/** Too many tasks are running, and none of them shares a name with the refused one. */
export class FullError extends Error {
  override readonly name: string = "FullError";
}

/** Too many tasks are running, and some share a name with the refused one, such as its merchant. */
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
