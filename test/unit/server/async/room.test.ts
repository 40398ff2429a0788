import { expect, test } from "vitest";
import { createRoom } from "../../../../server/async/room.ts";

test("a room lets in as many as each name and all have room for, and others again when one has left", async () => {
  const room = createRoom(3);
  const { promise: open, resolve: leave } = Promise.withResolvers<string>();
  const enter = (name: string) => room.run({ [name]: 2 }, () => open).catch((error: Error) => error.name);

  const entered = ["a", "a", "a", "b", "b", "a"].map(enter);
  leave("left");

  expect(await Promise.all(entered)).toEqual([
    ...["left", "left", "CrowdedError", "left", "FullError"],
    "CrowdedError", // also while there is no room for anybody
  ]);
  expect(await Promise.all(["a", "a", "b"].map(enter))).toEqual(["left", "left", "left"]);
});
