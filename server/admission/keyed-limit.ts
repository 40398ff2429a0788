import pLimit, { type LimitFunction } from "p-limit";

/** Runs tasks concurrently, but only a few with the same key at a time; the others wait, in the order in which they came. */
export type KeyedLimit = {
  run<Result>(key: string, task: () => Promise<Result>): Promise<Result>;
  /** Whether a task with this key runs or waits. */
  has(key: string): boolean;
};

/** @param concurrency how many tasks with the same key may run at a time */
export function createKeyedLimit(concurrency: number): KeyedLimit {
  /** Those with tasks that run or wait. */
  const limits = new Map<string, { readonly limit: LimitFunction; tasks: number }>();
  return {
    has: (key) => limits.has(key),
    async run(key, task) {
      const entry = limits.get(key) ?? { limit: pLimit(concurrency), tasks: 0 };
      limits.set(key, entry);
      entry.tasks += 1;
      try {
        return await entry.limit(task);
      } finally {
        entry.tasks -= 1;
        if (entry.tasks === 0) limits.delete(key);
      }
    },
  };
}
