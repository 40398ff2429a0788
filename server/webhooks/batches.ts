import { setImmediate } from "node:timers/promises";

/** So that a statement with what receivers answered, up to 1 KiB each, stays below a few hundred KiB. */
const MAX_BATCH = 200;

/**
 * Runs work for many at once: what is asked for in the same turn of the event loop, and while it runs, shares the next run.
 * Where a run for several fails, each of them gets a run of its own, so that one that can't be done holds up no other.
 *
 * @returns asks for one, and gives the result of the run that it shared
 */
export function createBatches<Item, Result>(
  run: (items: Item[]) => Promise<Result>,
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; settle: (result: Promise<Result>) => void }[] = [];
  let running = false;

  async function runAll(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      // The embedded store does its work in this thread: only between its statements can anybody come.
      await setImmediate();
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      const shared = run(batch.map(({ item }) => item));
      const failed = await shared.then(
        () => false,
        () => true,
      );
      const alone = failed && batch.length > 1;
      const results = batch.map(({ item, settle }) => {
        const result = alone ? run([item]) : shared;
        settle(result);
        return result;
      });
      await Promise.allSettled(results); // told to those who asked
    }
    running = false;
  }

  return (item) =>
    new Promise((resolve) => {
      waiting.push({ item, settle: resolve });
      if (!running) runAll();
    });
}
