import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { PAGE_SOURCES, PAGES, renderPage } from "./lib/docs-page.ts";
import { replaceFile } from "./lib/files.ts";
import { ROOT, secondsSince } from "./lib/redocly.ts";

const STAMP = join(ROOT, "docs/dist/sources.sha256");

// Quality 11 takes 3 s instead of 0.15 s to make the page 9 % smaller.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Builds the docs pages and their compressed forms, and prints their sizes. */
export async function buildDocs(): Promise<void> {
  const start = performance.now();
  const sources = await hashSources();
  const sizes = await Promise.all(PAGES.map(buildPage));
  await replaceFile(STAMP, sources); // Last, so that a build cut short is stale.
  for (const size of sizes) console.log(`docs: ${size}`);
  console.log(`docs: built in ${secondsSince(start)}`);
}

async function buildPage({ contract, page }: (typeof PAGES)[number]): Promise<string> {
  const html = Buffer.from(await renderPage(contract));
  const [br, gz] = await Promise.all([promisify(brotliCompress)(html, BROTLI), promisify(gzip)(html)]);
  const path = join(ROOT, page);
  await Promise.all([replaceFile(path, html), replaceFile(`${path}.br`, br), replaceFile(`${path}.gz`, gz)]);
  return `${page}, ${toKilobytes(html)}, ${toKilobytes(br)} as brotli, ${toKilobytes(gz)} as gzip`;
}

/** Whether the built pages are the ones that their sources make. */
export async function isDocsCurrent(): Promise<boolean> {
  return (await readFile(STAMP, "utf8").catch(() => "none")) === (await hashSources());
}

/** A hash of everything that the pages depend on. Times of files would say nothing in a fresh clone. */
async function hashSources(): Promise<string> {
  const names = (await readdir(join(ROOT, "scripts/lib"))).filter((name) => name.endsWith(".ts"));
  const lib = names.sort().map((name) => `scripts/lib/${name}`);
  const tool = "node_modules/@redocly/cli/package.json";
  const hash = createHash("sha256");
  for (const path of [...PAGE_SOURCES, "scripts/docs.ts", ...lib, tool]) {
    hash.update(path).update(await readFile(join(ROOT, path)));
  }
  return hash.digest("hex");
}

function toKilobytes(content: Buffer): string {
  return `${Math.round(content.length / 1000)} kB`;
}

if (import.meta.main) await buildDocs();
