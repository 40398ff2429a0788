/**
 * Runs tasks concurrently, except that tasks with a key in common run one after the other, in the order in which they were
 * added.
 */
export type KeyedQueue = {
  /** Resolves when there is room for the next task. Rejects with the error of an earlier task. */
  add(keys: readonly string[], task: () => Promise<void>): Promise<void>;
  /** Resolves when all tasks have ended. Rejects with the error of one that failed. */
  end(): Promise<void>;
};

/** @param capacity how many tasks may run or wait for an earlier one */
export function createKeyedQueue(capacity: number): KeyedQueue {
  const tails = new Map<string, Promise<void>>();
  const running = new Set<Promise<void>>();
  let failed: { error: unknown } | undefined;

  function begin(keys: readonly string[], task: () => Promise<void>): void {
    const earlier = keys.map((key) => tails.get(key));
    const run: Promise<void> = Promise.all(earlier)
      .then(() => (failed ? undefined : task()))
      .catch((error: unknown) => {
        failed ??= { error };
      })
      .finally(() => {
        running.delete(run);
        for (const key of keys) if (tails.get(key) === run) tails.delete(key);
      });
    running.add(run);
    for (const key of keys) tails.set(key, run);
  }

  function throwFailure(): void {
    if (failed) throw failed.error;
  }

  return {
    async add(keys, task) {
      begin(keys, task);
      while (running.size >= capacity) await Promise.race(running);
      throwFailure();
    },
    async end() {
      await Promise.all(running);
      throwFailure();
    },
  };
}
