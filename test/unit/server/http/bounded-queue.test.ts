import { expect, test } from "vitest";
import { createBulkhead } from "../../../../server/admission/bulkhead.ts";

test("a bulkhead lets in as many as each name and all have room for, and others again when one has left", async () => {
  const bulkhead = createBulkhead(3);
  const { promise: open, resolve: leave } = Promise.withResolvers<string>();
  const enter = (name: string) => bulkhead.run({ [name]: 2 }, () => open).catch((error: Error) => error.name);

  const entered = ["a", "a", "a", "b", "b", "c"].map(enter);
  leave("left");

  expect(await Promise.all(entered)).toEqual([
    ...["left", "left", "CrowdedError", "left"],
    "CrowdedError", // there is no room for anybody, also because of b
    "FullError",
  ]);
  expect(await Promise.all(["a", "a", "b"].map(enter))).toEqual(["left", "left", "left"]);
});
