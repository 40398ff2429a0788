import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { findUnpinned, pinImages } from "../../../scripts/supply-chain/image-digests.ts";

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const read = (name: string) => readFile(new URL(`../../../server/operate/${name}`, import.meta.url), "utf8");
const findDigest = async (image: string) => digest(image.includes("postgres") ? "a" : "b");

test.each([
  [
    "Containerfile",
    ["docker.io/library/node:24.21.0-slim", "gcr.io/distroless/cc-debian12:nonroot"],
    digest("b"),
  ],
  ["compose.yaml", ["docker.io/library/postgres:18"], digest("a")],
])(
  "the images of the %s are found and pinned, and those that are pinned get the present digest",
  async (name, images, pinned) => {
    const shipped = await read(name);
    const text = shipped.replaceAll(/@sha256:[0-9a-f]{64}/g, "");

    const once = await pinImages(text, findDigest);
    const older = once.replaceAll(pinned, digest("0"));

    expect(findUnpinned(shipped)).toEqual([]);
    expect(findUnpinned(text)).toEqual(images);
    expect(findUnpinned(once)).toEqual([]);
    for (const image of images) expect(once).toContain(`${image}@${pinned}`);
    expect(once.replaceAll(`@${pinned}`, "")).toBe(text);
    expect(await pinImages(older, findDigest)).toBe(once);
  },
);

test("a digest that is none is not written", async () => {
  await expect(pinImages("FROM docker.io/library/node:24\n", async () => "latest")).rejects.toThrow(
    "has no digest",
  );
});
