import { join } from "node:path";
import { DOCS, replaceFolder } from "../command/built-folder.ts";
import { defineCommand, secondsSince } from "../command/command.ts";
import { LICENCES_FILE, licencesOf } from "../command/licences.ts";
import { ROOT } from "../command/root.ts";
import { readAssets, renderSearch } from "./assets.ts";
import { renderPage } from "./fill.ts";
import { renderHome } from "./home.ts";
import { toHtml, toHtmlTree } from "./html.ts";
import { renderNotFound, renderTextPage } from "./layout.ts";
import { renderReferencePage } from "./redoc.ts";
import { deriveReference } from "./reference/document.ts";
import { createSiteRendering, readSite, type Site } from "./rendering.ts";
import { listEntries } from "./search/search-entries.ts";
import { renderTexts } from "./texts.ts";

/** Its package has the notices of all that Redoc is made of. */
const REDOC = join(ROOT, "node_modules/@redocly/cli");

/** Builds the site, as HTML pages with Markdown beside them. */
export async function buildDocs(): Promise<void> {
  const start = performance.now();
  await replaceFolder(DOCS, async () => {
    const site = await readSite();
    const { pages, licences } = await renderPages(site);
    return { pages, plain: [...renderTexts(site), [LICENCES_FILE, licences]] };
  });
  console.log(`docs: built in docs/dist in ${secondsSince(start)}`);
}

/** The pages of text, the front page, and the search, which are all written by this project; the reference is Redoc's. */
async function renderPages(site: Site): Promise<{ pages: [name: string, text: string][]; licences: string }> {
  const assets = await readAssets();
  const rendering = createSiteRendering(site);
  const menu = { pages: site.pages, reference: site.menu };
  const texts = site.pages.map((page) => {
    const html = toHtml(toHtmlTree(renderPage(site, page, rendering)).children);
    return [`${page.slug}.html`, renderTextPage(assets, menu, page, html)] satisfies [string, string];
  });
  const search = await renderSearch(listEntries(site, rendering));
  const pages: [string, string][] = [
    ...texts,
    ["index.html", renderHome(assets, site, rendering)],
    ["reference.html", await renderReferencePage(deriveReference(site), site)],
    ["404.html", renderNotFound(assets, menu)],
    ["search.js", search.code],
  ];
  return { pages, licences: await licencesOf([...assets.modules, ...search.moduleIds, REDOC]) };
}

if (import.meta.main) {
  defineCommand("docs", "Builds the site in docs/dist, as HTML pages with Markdown beside them.").parse();
  await buildDocs();
}
