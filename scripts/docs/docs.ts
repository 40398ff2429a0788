import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { defineCommand, secondsSince } from "../command/command.ts";
import { replaceFile } from "../command/files.ts";
import { readAssets, renderSearch } from "./assets.ts";
import { renderPage } from "./fill.ts";
import { renderHome } from "./home.ts";
import { toHtml, toHtmlTree } from "./html.ts";
import { renderNotFound, renderTextPage } from "./layout.ts";
import { renderReferencePage } from "./redoc.ts";
import { deriveReference } from "./reference/document.ts";
import { createSiteRendering, readSite, type Site } from "./rendering.ts";
import { listEntries } from "./search/search-entries.ts";
import { DIST, hashSources, STAMP } from "./stale.ts";
import { renderTexts } from "./texts.ts";

// Quality 11 takes 3 s instead of 0.15 s to make the page 9 % smaller.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Builds the site, as HTML pages with Markdown beside them, and prints the sizes of the largest. */
export async function buildDocs(): Promise<void> {
  const start = performance.now();
  const sources = await hashSources();
  const site = await readSite();
  const texts = [...renderTexts(site)];
  const pages = [
    ...(await renderPages(site)),
    ["reference.html", await renderReferencePage(deriveReference(site), site)] as const,
  ];
  const compressed = (await Promise.all(pages.map(([name, text]) => compress(name, text)))).flat();
  const files = [...compressed, ...texts];
  await Promise.all(files.map(([name, content]) => replaceFile(join(DIST, name), content)));
  await removeOthers(new Set(files.map(([name]) => name)));
  await replaceFile(STAMP, sources); // Last, so that an interrupted build counts as stale.
  const sizes = new Map(compressed.map(([name, { length }]) => [name, `${Math.round(length / 1000)} kB`]));
  const sizeOf = (name: string) => `${name} ${sizes.get(`${name}.br`)}`;
  const named = ["index.html", "reference.html", "search.js"].map(sizeOf).join(", ");
  console.log(`docs: ${pages.length} pages in docs/dist; as brotli ${named}`);
  console.log(`docs: ${texts.length} files for programs, built in ${secondsSince(start)}`);
}

/** The pages of text, the front page, and the search, which are all written by this project; the reference is Redoc's. */
async function renderPages(site: Site): Promise<(readonly [name: string, content: string])[]> {
  const assets = await readAssets();
  const rendering = createSiteRendering(site);
  const menu = { pages: site.pages, reference: site.menu };
  const texts = site.pages.map((page) => {
    const html = toHtml(toHtmlTree(renderPage(site, page, rendering)).children);
    return [`${page.slug}.html`, renderTextPage(assets, menu, page, html)] as const;
  });
  return [
    ...texts,
    ["index.html", renderHome(assets, site, rendering)],
    ["404.html", renderNotFound(assets, menu)],
    ["search.js", await renderSearch(listEntries(site, rendering))],
  ];
}

async function compress(name: string, text: string): Promise<[name: string, content: Buffer][]> {
  const content = Buffer.from(text);
  const [br, gz] = await Promise.all([promisify(brotliCompress)(content, BROTLI), promisify(gzip)(content)]);
  return [
    [name, content],
    [`${name}.br`, br],
    [`${name}.gz`, gz],
  ];
}

/** Removes the files of pages that no longer exist: the server serves every file that it finds. */
async function removeOthers(names: ReadonlySet<string>): Promise<void> {
  const found = (await readdir(DIST)).filter((name) => /\.(md|txt|svg|html|js|json|yaml|br|gz)$/.test(name));
  const others = found.filter((name) => !names.has(name));
  await Promise.all(others.map((name) => rm(join(DIST, name), { force: true })));
}

if (import.meta.main) {
  defineCommand("docs", "Builds the site in docs/dist, as HTML pages with Markdown beside them.").parse();
  await buildDocs();
}
