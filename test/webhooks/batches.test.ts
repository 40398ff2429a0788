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

test("the first one waits for nobody, and those who come meanwhile share the next run", async () => {
  const { calls, ask } = givenWork();

  const first = ask("a");
  const others = ["b", "c"].map((item) => ask(item));
  expect(calls.map(({ items }) => items)).toEqual([["a"]]);
  calls[0]?.finish("one");
  expect(await first).toBe("one");
  await expect.poll(() => calls[1]?.items).toEqual(["b", "c"]);
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

  expect(done).toEqual([["a"], ["b", "bad", "c"], ["b"], ["bad"], ["c"]]);
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

  expect(sizes).toEqual([1, 200, 200, 1]);
});
