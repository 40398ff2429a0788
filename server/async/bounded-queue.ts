import pLimit, { type LimitFunction } from "p-limit";

/** Runs only a few tasks with the same name at a time. A limited number of others wait, in the order of their arrival. */
export type BoundedQueue = {
  /**
   * @param shares the names of the task, such as its payment and its merchant; it waits for them in this order
   * @throws CrowdedError, without running the task, when there is no room and tasks that share a name with it take part of it;
   *   FullError when other tasks alone take all of it
   */
  run<Result>(shares: Readonly<Record<string, Share>>, task: () => Promise<Result>): Promise<Result>;
  has(name: string): boolean;
  count(): number;
};

/** How many tasks with the same name may run, and how many may run or wait. */
export type Share = { readonly running: number; readonly room: number };

/** There is no room, and no task in the queue shares a name with the refused one. */
export class FullError extends Error {
  override readonly name: string = "FullError";
}

/** There is no room, and some tasks in the queue share a name with the refused one, such as its merchant. */
export class CrowdedError extends FullError {
  override readonly name = "CrowdedError";
}

/** @param room how many tasks may run or wait, whatever their names */
export function createBoundedQueue(room: number): BoundedQueue {
  /** The names of the tasks that run or wait. */
  const entries = new Map<string, { readonly limit: LimitFunction; tasks: number }>();
  let total = 0;
  function enter(name: string, { running }: Share): LimitFunction {
    const entry = entries.get(name) ?? { limit: pLimit(running), tasks: 0 };
    entries.set(name, entry);
    entry.tasks += 1;
    return entry.limit;
  }
  function leave(name: string): void {
    const entry = entries.get(name);
    if (!entry) return;
    entry.tasks -= 1;
    if (entry.tasks === 0) entries.delete(name);
  }
  return {
    has: (name) => entries.has(name),
    count: () => total,
    async run<Result>(shares: Readonly<Record<string, Share>>, task: () => Promise<Result>) {
      const names = Object.keys(shares);
      if (Object.entries(shares).some(([name, share]) => (entries.get(name)?.tasks ?? 0) >= share.room))
        throw new CrowdedError("too many tasks share a name with this one");
      if (total >= room)
        throw new (names.some((name) => entries.has(name)) ? CrowdedError : FullError)("too many tasks wait");
      total += 1;
      const limits = Object.entries(shares).map(([name, share]) => enter(name, share));
      try {
        // The task waits for its first name, then for the next: the limit of the first one is the outermost.
        let run = task;
        for (const limit of limits.reverse()) {
          const inner = run;
          run = () => limit(inner);
        }
        return await run();
      } finally {
        total -= 1;
        for (const name of names) leave(name);
      }
    },
  };
}
