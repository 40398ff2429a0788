/** Counts what is under way, in all and by any names, and lets in only so many with each. */
export type Room = {
  /**
   * Runs a task, if there is room for it under all its names, and in all.
   *
   * @param limits how many tasks may be under way with each name
   * @throws CrowdedError without running it, when too many are under way with one of its names, and FullError when too many are in all
   */
  run<Result>(limits: Readonly<Record<string, number>>, task: () => Promise<Result>): Promise<Result>;
  /** How many tasks are under way in all. */
  count(): number;
};

/** Too many wait, whosever they are. */
export class FullError extends Error {
  override readonly name: string = "FullError";
}

/** Too many wait that have a name in common with the one that is refused, such as their merchant. */
export class CrowdedError extends FullError {
  override readonly name = "CrowdedError";
}

export function createRoom(limit: number): Room {
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
      if (total >= limit) throw new FullError("too many wait");
      change(names, 1);
      try {
        return await task();
      } finally {
        change(names, -1);
      }
    },
  };
}
