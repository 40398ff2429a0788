/** Runs tasks side by side, except those that have a key in common: these follow each other as they came. */
export interface Lanes {
  /** Resolves when there is room for the next one. Rejects with what an earlier task has failed with. */
  enter(keys: readonly string[], task: () => Promise<void>): Promise<void>;
  /** Resolves when all have ended. Rejects with what one has failed with. */
  end(): Promise<void>;
}

/** @param places how many tasks may be under way or wait for an earlier one */
export function createLanes(places: number): Lanes {
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
    async enter(keys, task) {
      begin(keys, task);
      while (running.size >= places) await Promise.race(running);
      throwFailure();
    },
    async end() {
      await Promise.all(running);
      throwFailure();
    },
  };
}
