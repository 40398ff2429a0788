import { escapeHtml } from "./html.ts";
import type { Page } from "./pages.ts";
import { GROUPS } from "./site.ts";

/** The parts in the head of every page. */
export type Assets = {
  readonly styles: string;
  /** Runs before the page is drawn. */
  readonly head: string;
  readonly script: string;
  /** The version of the contract. */
  readonly version: string;
  /** The modules of the scripts. */
  readonly modules: readonly string[];
};

const NAME = "Refunds and webhooks";

/** The pages, and the parts of the reference. */
type Menu = { readonly pages: readonly Page[]; readonly reference: ReferenceMenu };

/** The parts of the reference, by tags of the contracts. */
export type ReferenceMenu = ReadonlyMap<
  string,
  readonly { readonly route: string; readonly summary: string }[]
>;

const MENU_BUTTON = `<button type="button" class="menu-button" popovertarget="menu">Menu</button>`;

/** Stands for the word where a narrow bar has no room for it. */
const MAGNIFIER = `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="M11 11l4 4M7 1a6 6 0 100 12A6 6 0 107 1z" fill="none" stroke="currentColor" stroke-width="1.6"/></svg>`;

/** The bar above every page, the reference included. */
export function renderHeader(current: string): string {
  const link = (href: string, name: string) =>
    `<a href="${href}"${href === current ? ' aria-current="page"' : ""}>${name}</a>`;
  const menu = current === "index.html" ? "" : MENU_BUTTON;
  return `<header class="site-header">
  ${menu}  <a class="wordmark" href="index.html"><span aria-hidden="true">↩</span><span class="name"> refunds<b>+</b>webhooks</span></a>
  <nav aria-label="Main">${link("start.html", "Start")}${link("reference.html", "Reference")}<!-- console -->${link("decisions.html", "Decisions")}${link("changelog.html", "Changes")}</nav>
  <button type="button" class="search-button" aria-keyshortcuts="Control+K">${MAGNIFIER}<span>Search</span> <kbd aria-hidden="true">Ctrl K</kbd></button>
  <button type="button" class="theme-button" aria-label="Dark colours">◐</button>
</header>`;
}

/** The line below every page, the reference included. */
export function renderFooter(version: string): string {
  return `<footer class="site-footer">Version ${version} of the contract: <a href="changelog.html">what changed</a>, <a href="glossary.html">glossary</a>.<br>For programs and AI assistants: <a href="reference.md">the reference as Markdown</a>, <a href="llms.txt">list of pages</a>, <a href="llms-full.txt">everything as one text</a>, <a href="problems.json">problems</a> and <a href="decisions.json">decisions</a> as JSON.</footer>`;
}

/** A whole document around the content of a page. */
export function renderDocument(
  assets: Assets,
  { title, file, markdown, content }: { title: string; file: string; markdown: string; content: string },
): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="alternate" type="text/markdown" href="${markdown}">
<script>${assets.head}</script>
<style>${assets.styles}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
${renderHeader(file)}
${content}
${renderFooter(assets.version)}
<script>${assets.script}</script>
</body>
</html>
`;
}

/** A page of text: menu, content with links to the previous and next page, and its headings. */
export function renderTextPage(assets: Assets, menu: Menu, page: Page, html: string): string {
  const { pages } = menu;
  const index = pages.indexOf(page);
  const link = (rel: string, name: string, other: Page | undefined) =>
    other
      ? `<a rel="${rel}" href="${other.slug}.html"><small>${name}</small> ${escapeHtml(nameOf(other))}</a>`
      : "";
  const around = link("prev", "Previous", pages[index - 1]) + link("next", "Next", pages[index + 1]);
  const group = GROUPS.find((one) => one.pages.some(({ slug }) => slug === page.slug));
  const content = `<div class="columns">
${renderMenu(menu, `${page.slug}.html`)}
<main id="content" tabindex="-1">
<div class="page-top"><span>${escapeHtml(group?.title ?? "")}</span><a class="as-markdown" href="${page.slug}.md">View as Markdown</a></div>
<h1>${escapeHtml(page.title)}</h1>
${html}
<nav class="around" aria-label="Previous and next page">${around}</nav>
</main>
${renderContents(page)}
</div>`;
  const title = `${nameOf(page)} – ${NAME}`;
  return renderDocument(assets, { title, file: `${page.slug}.html`, markdown: `${page.slug}.md`, content });
}

/** Where there is no page: the menu of all pages, and the ways to find one. */
export function renderNotFound(assets: Assets, menu: Menu): string {
  const content = `<div class="columns">
${renderMenu(menu, "404.html")}
<main id="content" tabindex="-1">
<h1>Page not found</h1>
<p>The docs have no page at this address. Choose one from the menu, or search: press <kbd>/</kbd>, or the button at the top.</p>
<ul>
<li><a href="index.html">The front page</a> leads to every task.</li>
<li><a href="start.html">Start</a> begins with your first refund.</li>
<li><a href="reference.html">The reference</a> has every call, field and event.</li>
</ul>
</main>
</div>`;
  const title = `Page not found – ${NAME}`;
  return renderDocument(assets, { title, file: "404.html", markdown: "llms.txt", content });
}

/** The short name of a page in menus. */
function nameOf({ name, title }: Page): string {
  return name ?? title;
}

/** The menu of all pages, which is the same on each. */
export function renderMenu({ pages, reference }: Menu, current: string): string {
  const item = (href: string, name: string) =>
    `<li><a href="${href}"${href === current ? ' aria-current="page"' : ""}>${escapeHtml(name)}</a></li>`;
  const groups = GROUPS.map(({ title, pages: own, tags }) => {
    const links = pages
      .filter(({ slug }) => own.some((page) => page.slug === slug))
      .map((page) => item(`${page.slug}.html`, nameOf(page)));
    const parts = tags.map((tag) => {
      const operations = (reference.get(tag) ?? []).map(({ route, summary }) =>
        item(`reference.html#/${route}`, summary),
      );
      if (operations.length === 1) return operations.join("");
      return `<li><details><summary>${tag}</summary><ul>${operations.join("")}</ul></details></li>`;
    });
    const whole = title === "Reference" ? [item("reference.html", "API reference")] : [];
    return `<h2>${title}</h2><ul>${[...whole, ...parts, ...links].join("")}</ul>`;
  });
  return `<nav id="menu" popover aria-label="Pages">${groups.join("")}</nav>`;
}

/** The headings of a page, including those of the third level where readers look for them. */
function renderContents({ headings, chapters }: Page): string {
  const shown = headings.filter(({ level }) => level === 2 || (chapters && level === 3));
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ level, id, text }) =>
      `<li class="level-${level}"><a href="#${id}">${escapeHtml(text).replaceAll("_", "_<wbr>")}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}
