import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createBatches } from "../../server/webhooks/batches.ts";

/** Work that is done when the test says so, and what it was called with. */
function givenWork() {
  const calls: { items: string[]; finish: (result: string) => void; fail: (error: Error) => void }[] = [];
  const work = (items: string[]) =>
    new Promise<string>((resolve, reject) => {
      calls.push({ items, finish: resolve, fail: reject });
    });
  return { calls, ask: createBatches(work) };
}

test("those who come in one turn, and those who come while others run, share a run", async () => {
  const { calls, ask } = givenWork();

  const first = ["a", "b"].map((item) => ask(item));
  await setImmediate();
  const others = ["c", "d"].map((item) => ask(item));
  await setImmediate();
  expect(calls.map(({ items }) => items)).toEqual([["a", "b"]]);
  calls[0]?.finish("one");
  expect(await Promise.all(first)).toEqual(["one", "one"]);
  await expect.poll(() => calls[1]?.items).toEqual(["c", "d"]);
  calls[1]?.finish("two");

  expect(await Promise.all(others)).toEqual(["two", "two"]);
});

test("one that can't be done holds up no other", async () => {
  const done: string[][] = [];
  const ask = createBatches(async (items: string[]) => {
    done.push(items);
    if (items.includes("bad")) throw new Error("refused");
    return items.join();
  });

  const results = await Promise.allSettled(["a", "b", "bad", "c"].map((item) => ask(item)));

  expect(done).toEqual([["a", "b", "bad", "c"], ["a"], ["b"], ["bad"], ["c"]]);
  expect(results.map((result) => (result.status === "fulfilled" ? result.value : "failed"))).toEqual([
    "a",
    "b",
    "failed",
    "c",
  ]);
  expect(await ask("d")).toBe("d");
});

test("a run takes 200 at most", async () => {
  const sizes: number[] = [];
  const ask = createBatches(async (items: number[]) => sizes.push(items.length));

  await Promise.all(Array.from({ length: 402 }, (_, index) => ask(index)));

  expect(sizes).toEqual([200, 200, 2]);
});
