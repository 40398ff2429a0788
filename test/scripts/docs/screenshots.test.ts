import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { areScreenshotsCurrent } from "../../proofs/screenshots/screenshots.ts";

test("the pictures of the console's guide show the console as it is; if not, run: npm run proof -- screenshots", async () => {
  expect(await areScreenshotsCurrent()).toBe(true);
});

test("each picture is there in light and in dark", async () => {
  const names = (await readdir("docs/console")).filter((name) => name.endsWith(".svg"));
  expect(names.length).toBeGreaterThan(5);

  for (const name of names) {
    const svg = await readFile(`docs/console/${name}`, "utf8");
    const pictures = [...svg.matchAll(/<image class="(light|dark)".*base64,(.{1000})/g)];
    expect(pictures.map(([, scheme]) => scheme)).toEqual(["light", "dark"]);
    expect(pictures[0]?.[2]).not.toBe(pictures[1]?.[2]);
  }
});
