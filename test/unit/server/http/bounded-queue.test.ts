import { expect, test } from "vitest";
import { createBoundedQueue } from "../../../../server/admission/bounded-queue.ts";

test("a bounded queue takes in as many as each name and all have room for, and others again when one has left", async () => {
  const queue = createBoundedQueue(3);
  const { promise: open, resolve: leave } = Promise.withResolvers<string>();
  let [running, most] = [0, 0];
  const task = async () => {
    running += 1;
    most = Math.max(most, running);
    const left = await open;
    running -= 1;
    return left;
  };
  const enter = (name: string) =>
    queue.run({ [name]: { running: 1, room: 2 } }, task).catch((error: Error) => error.name);

  const entered = ["a", "a", "a", "b", "b", "c"].map(enter);
  expect([queue.count(), queue.has("b"), queue.has("c")]).toEqual([3, true, false]);
  leave("left");

  expect(await Promise.all(entered)).toEqual([
    ...["left", "left", "CrowdedError", "left"],
    "CrowdedError", // there is no room for anybody, also because of b
    "FullError",
  ]);
  expect(most).toBe(2);
  expect(await Promise.all(["a", "a", "b"].map(enter))).toEqual(["left", "left", "left"]);
  expect([queue.count(), queue.has("a")]).toEqual([0, false]);
});
