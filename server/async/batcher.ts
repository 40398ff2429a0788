import { setImmediate, setTimeout } from "node:timers/promises";
import DataLoader from "dataloader";
import pLimit from "p-limit";

/**
 * Runs work for many items at once, in one run at a time: the items that are added in one turn of the event loop, or during a run,
 * share the next one. There is no timer: a lone item is run at once. When a run for several items fails, each of them is run alone,
 * so that one bad item does not fail the others.
 * @param run resolves with the results in the order of the items
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  options: BatcherOptions<Item, Result> = {},
): AddToBatch<Item, Result> {
  const { maxBatchSize = 200, rests = false, isAbandoned = () => false } = options;
  const { runAlone = async (item) => (await run([item]))[0] as Result } = options;
  const limit = pLimit(1);
  /** The run that was begun last; it never rejects. */
  let begun: Promise<unknown> = Promise.resolve();

  async function runBatch(entries: readonly Entry<Item>[]): Promise<TakeResult<Result>[]> {
    const shared = runShared(entries.filter(({ signal }) => !signal?.aborted));
    begun = shared;
    const joined = await shared;
    return entries.map((entry) => joined.get(entry) ?? (() => Promise.reject(entry.signal?.reason)));
  }

  async function runShared(entries: readonly Entry<Item>[]): Promise<Map<Entry<Item>, TakeResult<Result>>> {
    if (entries.length === 0) return new Map();
    try {
      const results = await run(entries.map(({ item }) => item));
      return new Map(entries.map((entry, index) => [entry, async () => results[index] as Result]));
    } catch (error) {
      const isFinal = entries.length === 1 && !isAbandoned(error);
      const retryAlone = async ({ item, signal }: Entry<Item>) => {
        if (isFinal) throw error;
        signal?.throwIfAborted();
        return runAlone(item);
      };
      return new Map(entries.map((entry) => [entry, () => retryAlone(entry)]));
    }
  }

  /** Starts a batch when no run is under way, so that more items can join it until then. */
  async function start(dispatch: () => void): Promise<void> {
    // The embedded store works in this thread, so items can be added only between its statements.
    await setImmediate();
    const startedMs = performance.now();
    dispatch();
    await begun;
    if (rests) await setTimeout(performance.now() - startedMs);
  }

  const loader = new DataLoader(runBatch, {
    cache: false,
    maxBatchSize,
    batchScheduleFn: (dispatch) => void limit(start, dispatch),
  });
  return async (item, signal) => {
    // Each item takes its own result, and so doesn't wait for one that is run alone.
    const takeResult = await loader.load({ item, signal });
    return takeResult();
  };
}

export type BatcherOptions<Item, Result> = {
  /** The largest number of items in one run; by default 200, for a statement that writes up to 1 KiB for each. */
  readonly maxBatchSize?: number;
  /** Does the work of an item after a run for several has failed; by default a run of its own. */
  readonly runAlone?: (item: Item) => Promise<Result>;
  /** Whether to rest after each run for as long as it took, so that other work has half of the time. */
  readonly rests?: boolean;
  /** Whether an error means that a run was abandoned early; then even the only item of a run is run again. */
  readonly isAbandoned?: (error: unknown) => boolean;
};

/**
 * Adds an item, and resolves with its result.
 * @param signal when it is aborted before the work for the item begins, the work is not done, and the promise rejects with
 *   the signal's reason
 */
export type AddToBatch<Item, Result> = (item: Item, signal?: AbortSignal) => Promise<Result>;

type Entry<Item> = { readonly item: Item; readonly signal: AbortSignal | undefined };

/** Returns the result of an item, or does its work in a run of its own. */
type TakeResult<Result> = () => Promise<Result>;
