import { expect, test } from "vitest";
import { CrowdedError, createRoom } from "../../../../server/async/room.ts";

test("a room lets in as many as each name has room for, and others again when one has left", async () => {
  const room = createRoom();
  const { promise: open, resolve: leave } = Promise.withResolvers<string>();
  const enter = (name: string) =>
    room.run({ all: 3, [name]: 2 }, () => open).catch((error: unknown) => error);

  const entered = ["a", "a", "a", "b", "b"].map(enter);
  leave("left");

  const crowded = expect.any(CrowdedError);
  expect(await Promise.all(entered)).toEqual(["left", "left", crowded, "left", crowded]);
  expect(await Promise.all(["a", "a", "b"].map(enter))).toEqual(["left", "left", "left"]);
});
