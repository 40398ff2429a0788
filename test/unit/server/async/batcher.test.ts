import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type BatcherOptions, createBatcher } from "../../../../server/async/batcher.ts";

/** Work that ends when the test decides, and the items of each run. */
function createWork(options?: BatcherOptions<string, string>) {
  const runs: {
    items: readonly string[];
    finish: () => void;
    fail: (error: Error) => void;
  }[] = [];
  const run = (items: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      runs.push({ items, finish: () => resolve(items.map((item) => `did ${item}`)), fail: reject });
    });
  return { runs, add: createBatcher(run, options) };
}

/** More turns of the event loop than a run needs to begin. */
async function severalTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
}

describe("a batcher", () => {
  test("runs items together that are added in one turn, or during a run, and gives each its own result", async () => {
    const { runs, add } = createWork();

    const first = ["a", "b"].map((item) => add(item));
    await expect.poll(() => runs.length).toBe(1);
    const others = ["c", "d"].map((item) => add(item));
    await severalTurns();
    expect(runs.map(({ items }) => items)).toEqual([["a", "b"]]);
    runs[0]?.finish();
    expect(await Promise.all(first)).toEqual(["did a", "did b"]);
    await expect.poll(() => runs[1]?.items).toEqual(["c", "d"]);
    runs[1]?.finish();

    expect(await Promise.all(others)).toEqual(["did c", "did d"]);
  });

  test("runs items with different keys apart, and none waits for another key's run", async () => {
    const { runs, add } = createWork({ keyOf: (item) => item.charAt(0) });

    const stuck = add("a1");
    await expect.poll(() => runs.length).toBe(1);
    const others = ["a2", "b1", "b2"].map((item) => add(item));
    await expect.poll(() => runs.map(({ items }) => items)).toEqual([["a1"], ["b1", "b2"]]);
    runs[1]?.finish();
    expect(await Promise.all(others.slice(1))).toEqual(["did b1", "did b2"]);
    expect(runs).toHaveLength(2);
    runs[0]?.finish();
    await expect.poll(() => runs[2]?.items).toEqual(["a2"]);
    runs[2]?.finish();

    expect(await Promise.all([stuck, others[0]])).toEqual(["did a1", "did a2"]);
  });

  test("begins as many runs at a time as it may", async () => {
    const { runs, add } = createWork({ concurrency: 2 });

    const results = [add("a")];
    await expect.poll(() => runs.length).toBe(1);
    results.push(add("b"));
    await expect.poll(() => runs.length).toBe(2);
    results.push(add("c"), add("d"));
    await severalTurns();
    expect(runs.map(({ items }) => items)).toEqual([["a"], ["b"]]);
    runs[1]?.finish();
    await expect.poll(() => runs[2]?.items).toEqual(["c", "d"]);
    for (const { finish } of runs) finish();

    expect(await Promise.all(results)).toEqual(["did a", "did b", "did c", "did d"]);
  });

  test("runs each item of a failed run alone, so that one does not fail the others", async () => {
    const done: (readonly string[])[] = [];
    const add = createBatcher(async (items: readonly string[]) => {
      done.push(items);
      if (items.includes("bad")) throw new Error("refused");
      return items;
    });

    const results = await Promise.allSettled(["a", "b", "bad", "c"].map((item) => add(item)));

    expect(done).toEqual([["a", "b", "bad", "c"], ["a"], ["b"], ["bad"], ["c"]]);
    expect(results.map((result) => (result.status === "fulfilled" ? result.value : "failed"))).toEqual([
      "a",
      "b",
      "failed",
      "c",
    ]);
    await expect(add("bad")).rejects.toThrow("refused");
    expect(done.slice(5)).toEqual([["bad"]]);
    expect(await add("d")).toBe("d");
  });

  test("does not wait for items that are run alone", async () => {
    const alone = new Map<string, (result: string) => void>();
    const { runs, add } = createWork({
      runAlone: (item) => new Promise((resolve) => alone.set(item, resolve)),
    });

    const failed = ["a", "b"].map((item) => add(item));
    await expect.poll(() => runs.length).toBe(1);
    runs[0]?.fail(new Error("both wait for a lock"));
    await expect.poll(() => [...alone.keys()]).toEqual(["a", "b"]);
    const next = add("c");
    await expect.poll(() => runs[1]?.items).toEqual(["c"]);
    runs[1]?.finish();
    expect(await next).toBe("did c");
    alone.get("b")?.("did b alone");
    expect(await failed[1]).toBe("did b alone");
    alone.get("a")?.("did a alone");

    expect(await failed[0]).toBe("did a alone");
  });

  test("runs a lone item again only if its run was abandoned early", async () => {
    const early = new Error("waited for a lock");
    const { runs, add } = createWork({
      runAlone: async (item) => `did ${item} alone`,
      isAbandoned: (error) => error === early,
    });

    const first = add("a");
    await expect.poll(() => runs.length).toBe(1);
    runs[0]?.fail(early);
    expect(await first).toBe("did a alone");
    const second = add("b");
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.fail(new Error("refused"));

    await expect(second).rejects.toThrow("refused");
  });

  test("does nothing for an item that was aborted before its run, nor alone after a run that failed", async () => {
    const aloneRuns: string[] = [];
    const { runs, add } = createWork({
      runAlone: async (item) => {
        aloneRuns.push(item);
        return item;
      },
    });
    const abandoned = new AbortController();
    const late = new Error("the deadline has passed");

    const first = [add("a", abandoned.signal), add("b")];
    await expect.poll(() => runs.length).toBe(1);
    const second = [add("c", abandoned.signal), add("d")];
    const settled = Promise.allSettled([...first, ...second]);
    abandoned.abort(late);
    runs[0]?.fail(new Error("lost"));
    await expect.poll(() => runs.length).toBe(2);
    runs[1]?.finish();

    expect(await settled).toEqual([
      { status: "rejected", reason: late },
      { status: "fulfilled", value: "b" },
      { status: "rejected", reason: late },
      { status: "fulfilled", value: "did d" },
    ]);
    expect(aloneRuns).toEqual(["b"]);
    expect(runs.map(({ items }) => items)).toEqual([["a", "b"], ["d"]]);
  });

  test("begins no run when every item was aborted", async () => {
    const { runs, add } = createWork();

    const first = add("a");
    await expect.poll(() => runs.length).toBe(1);
    const second = add("b", AbortSignal.abort(new Error("gone")));
    const third = add("c", AbortSignal.abort(new Error("gone")));
    const settled = Promise.allSettled([first, second, third]);
    runs[0]?.finish();

    expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(runs.length).toBe(1);
  });

  test("runs at most as many items together as it may", async () => {
    const sizes: number[] = [];
    const add = createBatcher(async (items: readonly number[]) => {
      sizes.push(items.length);
      return items;
    });

    await Promise.all(Array.from({ length: 402 }, (_, index) => add(index)));

    expect(sizes).toEqual([200, 200, 2]);
  });
});
