/** Room for so many attempts at once in this process. */
export type Places = {
  /** Resolves when a place is free. */
  free(): Promise<void>;
  /** Runs a task, which must not reject, and keeps a place for it. */
  run(task: () => Promise<void>): void;
  /** Resolves when nothing runs any more. */
  empty(): Promise<void>;
};

export function createPlaces(count: number): Places {
  let running = 0;
  let waiting: { until: number; resolve: () => void }[] = [];

  function until(atMost: number): Promise<void> {
    if (running <= atMost) return Promise.resolve();
    return new Promise((resolve) => {
      waiting.push({ until: atMost, resolve });
    });
  }

  function leave(): void {
    running -= 1;
    for (const waiter of waiting) if (running <= waiter.until) waiter.resolve();
    waiting = waiting.filter((waiter) => running > waiter.until);
  }

  return {
    free: () => until(count - 1),
    run(task) {
      running += 1;
      task().finally(leave);
    },
    empty: () => until(0),
  };
}
