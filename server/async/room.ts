/** Counts what is under way, by any names, and lets in only so many with each. */
export type Room = {
  /**
   * Runs a task, if there is room for it under all its names.
   *
   * @param limits how many tasks may be under way with each name
   * @throws CrowdedError without running it
   */
  run<Result>(limits: Readonly<Record<string, number>>, task: () => Promise<Result>): Promise<Result>;
  /** How many tasks are under way with a name. */
  count(name: string): number;
};

/** Too many others wait for the same. */
export class CrowdedError extends Error {
  override readonly name = "CrowdedError";
}

export function createRoom(): Room {
  const taken = new Map<string, number>();
  function change(names: readonly string[], by: 1 | -1): void {
    for (const name of names) {
      const count = (taken.get(name) ?? 0) + by;
      if (count === 0) taken.delete(name);
      else taken.set(name, count);
    }
  }
  return {
    count: (name) => taken.get(name) ?? 0,
    async run(limits, task) {
      const full = Object.entries(limits).find(([name, limit]) => (taken.get(name) ?? 0) >= limit);
      if (full) throw new CrowdedError("too many wait for the same");
      const names = Object.keys(limits);
      change(names, 1);
      try {
        return await task();
      } finally {
        change(names, -1);
      }
    },
  };
}
