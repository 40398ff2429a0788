/** Collects calls that come at the same time, so that one statement serves them all. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type BatcherOptions, createBatcher } from "../../../server/async/batcher.ts";

/** Work that ends when the test decides, and the items of each run. */
function createWork(options?: BatcherOptions<string, string>) {
  const runs: { items: readonly string[]; finish: () => void; fail: (error: Error) => void }[] = [];
  const run = (items: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      runs.push({ items, finish: () => resolve(items.map((item) => `did ${item}`)), fail: reject });
    });
  const add = createBatcher(run, options);
  /** Resolves with a run as soon as it has begun. */
  const begun = async (number: number) => {
    await expect.poll(() => runs.length).toBeGreaterThanOrEqual(number);
    const found = runs[number - 1];
    if (!found) throw new Error(`run ${number} has not begun`);
    return found;
  };
  return { runs, begun, addAll: (...items: string[]) => items.map((item) => add(item)), add };
}

/** More turns of the event loop than a run needs to begin. */
async function severalTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await setImmediate();
}

describe("a batcher", () => {
  test("runs items together that are added in one turn, or during a run, and gives each its own result", async () => {
    const { runs, begun, addAll } = createWork();

    const results = addAll("a", "b");
    const first = await begun(1);
    results.push(...addAll("c", "d"));
    await severalTurns();
    expect(runs).toHaveLength(1);
    first.finish();
    (await begun(2)).finish();

    expect(await Promise.all(results)).toEqual(["did a", "did b", "did c", "did d"]);
    expect(runs.map(({ items }) => items)).toEqual([
      ["a", "b"],
      ["c", "d"],
    ]);
  });

  test("does not wait for items that are run alone", async () => {
    const alone = new Map<string, (result: string) => void>();
    const { begun, add, addAll } = createWork({
      runAlone: (item) => new Promise((resolve) => alone.set(item, resolve)),
    });

    const failed = addAll("a", "b");
    (await begun(1)).fail(new Error("both wait for a lock"));
    await expect.poll(() => [...alone.keys()]).toEqual(["a", "b"]);
    const next = add("c");
    (await begun(2)).finish();
    expect(await next).toBe("did c");
    alone.get("b")?.("did b alone");
    expect(await failed[1]).toBe("did b alone");
    alone.get("a")?.("did a alone");

    expect(await failed[0]).toBe("did a alone");
  });

  test("runs a lone item again only if its run was abandoned early", async () => {
    const early = new Error("waited for a lock");
    const { begun, add } = createWork({
      runAlone: async (item) => `did ${item} alone`,
      isAbandoned: (error) => error === early,
    });

    const first = add("a");
    (await begun(1)).fail(early);
    expect(await first).toBe("did a alone");
    const second = add("b");
    (await begun(2)).fail(new Error("refused"));

    await expect(second).rejects.toThrow("refused");
  });

  test("does nothing for an item that was aborted before its run, nor alone after a run that failed", async () => {
    const late = new Error("the deadline has passed");
    const { runs, begun, add } = createWork({ runAlone: async (item) => `did ${item} alone` });
    const abandoned = new AbortController();

    const results = [add("a", abandoned.signal), add("b")];
    const first = await begun(1);
    results.push(add("c", abandoned.signal), add("d"));
    const settled = Promise.allSettled(results);
    abandoned.abort(late);
    first.fail(new Error("lost"));
    (await begun(2)).finish();

    const rejected = { status: "rejected", reason: late };
    expect(await settled).toEqual([
      rejected,
      { status: "fulfilled", value: "did b alone" },
      rejected,
      { status: "fulfilled", value: "did d" },
    ]);
    expect(runs[1]?.items).toEqual(["d"]);
    await expect(add("e", abandoned.signal)).rejects.toBe(late);
    expect(runs).toHaveLength(2);
  });
});
