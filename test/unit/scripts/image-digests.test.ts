import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { findUnpinned, pinImages } from "../../../scripts/supply-chain/image-digests.ts";

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const read = (name: string) => readFile(new URL(`../../../server/operate/${name}`, import.meta.url), "utf8");

test.each([
  ["Containerfile", ["docker.io/library/node:24.21.0-slim", "gcr.io/distroless/cc-debian12:nonroot"]],
  ["compose.yaml", ["docker.io/library/postgres:18"]],
])("the images of the %s are pinned, and get the present digest", async (name, images) => {
  const shipped = await read(name);

  const updated = await pinImages(shipped, async () => digest("b"));

  expect(findUnpinned(shipped)).toEqual([]);
  expect(updated).toBe(shipped.replaceAll(/@sha256:[0-9a-f]{64}/g, `@${digest("b")}`));
  const unpinned = shipped.replaceAll(/@sha256:[0-9a-f]{64}/g, "");
  expect(findUnpinned(unpinned)).toEqual(images);
  expect(await pinImages(unpinned, async () => digest("b"))).toBe(updated);
});

test("a digest that is none is not written", async () => {
  await expect(pinImages("FROM docker.io/library/node:24\n", async () => "latest")).rejects.toThrow(
    "has no digest",
  );
});
