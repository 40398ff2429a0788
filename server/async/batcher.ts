import { setImmediate } from "node:timers/promises";
import DataLoader from "dataloader";
import pLimit from "p-limit";

/** Called with what a run does, and its number of items. */
export type OnRun = (name: string, items: number) => void;

export type BatcherOptions<Item, Result> = {
  /** What a run does, such as `save refunds`, for the metrics. */
  readonly name?: string;
  readonly onRun?: OnRun | undefined;
  /** The largest number of items in one run; by default 200, for a statement that writes up to 1 KiB for each. */
  readonly maxBatchSize?: number;
  /** How many runs may be under way at a time; 1 by default. */
  readonly concurrency?: number;
  /** Items with different keys never share a run, and never wait for each other. Without it, all items may share one. */
  readonly keyOf?: ((item: Item) => string) | undefined;
  /** Does the work of an item after a run for several has failed; by default a run of its own. */
  readonly runAlone?: (item: Item) => Promise<Result>;
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

/**
 * Runs work for many items at once: the items that are added in one turn of the event loop, or while there is no room for
 * another run, share the next run. There is no timer: a lone item is run at once. When a run for several items fails, each of
 * them is run alone, so that one bad item does not fail the others.
 * @param run resolves with the results in the order of the items
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { keyOf, ...options }: BatcherOptions<Item, Result> = {},
): AddToBatch<Item, Result> {
  if (!keyOf) return createOneBatcher(run, options);
  /** The batches with items under way. */
  const batchers = new Map<string, { readonly add: AddToBatch<Item, Result>; items: number }>();
  return async (item, signal) => {
    const key = keyOf(item);
    const batcher = batchers.get(key) ?? { add: createOneBatcher(run, options), items: 0 };
    batchers.set(key, batcher);
    batcher.items += 1;
    try {
      return await batcher.add(item, signal);
    } finally {
      batcher.items -= 1;
      if (batcher.items === 0) batchers.delete(key);
    }
  };
}

function createOneBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { maxBatchSize = 200, concurrency = 1, ...options }: Omit<BatcherOptions<Item, Result>, "keyOf">,
): AddToBatch<Item, Result> {
  const { name = "batch", onRun = () => {} } = options;
  const { runAlone = async (item) => (await run([item]))[0] as Result, isAbandoned = () => false } = options;
  const limit = pLimit(concurrency);
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
      onRun(name, entries.length);
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

  /** Starts a batch when there is room for a run, so that more items can join it until then. */
  async function start(dispatch: () => void): Promise<void> {
    // The embedded store works in this thread, so items can be added only between its statements.
    await setImmediate();
    dispatch();
    await begun;
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
