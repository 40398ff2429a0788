import { escapeHtml } from "./html.ts";
import type { Page } from "./pages.ts";
import { GROUPS } from "./site.ts";

/** The parts in the head of every page. */
export type Assets = { readonly styles: string; readonly script: string };

const NAME = "Refunds and webhooks";

/** Links in the menu besides the pages: the parts of the reference. */
const REFERENCE = [
  ["reference.html", "API reference"],
  ["reference.html#/refunds/issuerefund", "Issue a refund"],
  ["reference.html#/webhooks/subscribetowebhooks", "Subscribe to webhooks"],
  ["reference.html#/events", "Events"],
  ["reference.html#/clock", "Sandbox calls"],
] as const;

/** The bar above every page, the reference included. */
export function renderHeader(current: string): string {
  const link = (href: string, name: string) =>
    `<a href="${href}"${href === current ? ' aria-current="page"' : ""}>${name}</a>`;
  return `<header class="site-header">
  <a class="wordmark" href="index.html"><span aria-hidden="true">↩</span> refunds<b>+</b>webhooks</a>
  <nav aria-label="Main">${link("start.html", "Start")}${link("reference.html", "Reference")}${link("decisions.html", "Decisions")}${link("changelog.html", "Changes")}</nav>
  <button type="button" class="search-button" aria-keyshortcuts="Control+K">Search <kbd aria-hidden="true">Ctrl K</kbd></button>
</header>`;
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
<style>${assets.styles}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
${renderHeader(file)}
${content}
<footer class="site-footer">For programs and AI assistants: <a href="llms.txt">list of pages</a>, <a href="llms-full.txt">everything as one text</a>, <a href="problems.json">problems</a> and <a href="decisions.json">decisions</a> as JSON.</footer>
<script>${assets.script}</script>
</body>
</html>
`;
}

/** A page of text: menu, content with links to the previous and next page, and its headings. */
export function renderTextPage(assets: Assets, pages: readonly Page[], page: Page, html: string): string {
  const order = GROUPS.flatMap((group) => group.pages).flatMap(({ slug }) => {
    const found = pages.find((one) => one.slug === slug);
    return found ? [found] : [];
  });
  const index = order.findIndex(({ slug }) => slug === page.slug);
  const around = [
    ["prev", "Previous", order[index - 1]] as const,
    ["next", "Next", order[index + 1]] as const,
  ].flatMap(([rel, name, other]) =>
    other
      ? [`<a rel="${rel}" href="${other.slug}.html"><small>${name}</small> ${escapeHtml(nameOf(other))}</a>`]
      : [],
  );
  const group = GROUPS.find((one) => one.pages.some(({ slug }) => slug === page.slug));
  const content = `<div class="columns">
${renderMenu(pages, page.slug)}
<main id="content" tabindex="-1">
<div class="page-top"><span>${escapeHtml(group?.title ?? "")}</span><a class="as-markdown" href="${page.slug}.md">View as Markdown</a></div>
<h1>${escapeHtml(page.title)}</h1>
${html}
<nav class="around" aria-label="Previous and next page">${around.join("")}</nav>
</main>
${renderContents(page)}
</div>`;
  const title = `${nameOf(page)} – ${NAME}`;
  return renderDocument(assets, { title, file: `${page.slug}.html`, markdown: `${page.slug}.md`, content });
}

/** The short name of a page in menus. */
function nameOf({ name, title }: Page): string {
  return name ?? title;
}

function renderMenu(pages: readonly Page[], current: string): string {
  const groups = GROUPS.filter(({ pages: own }) => own.length > 0).map(({ title, pages: own }) => {
    const links = own.flatMap(({ slug }) => {
      const page = pages.find((one) => one.slug === slug);
      return page ? [[`${slug}.html`, nameOf(page)] as const] : [];
    });
    const all = title === "Reference" ? [...REFERENCE, ...links] : links;
    const items = all.map(
      ([href, name]) =>
        `<li><a href="${href}"${href === `${current}.html` ? ' aria-current="page"' : ""}>${escapeHtml(name)}</a></li>`,
    );
    return `<h2>${title}</h2><ul>${items.join("")}</ul>`;
  });
  return `<button type="button" class="menu-button" popovertarget="menu">Menu</button><nav id="menu" popover aria-label="Pages">${groups.join("")}</nav>`;
}

/** The headings of a page, including those of the third level where readers look for them. */
function renderContents({ headings, chapters }: Page): string {
  const shown = headings.filter(({ level }) => level === 2 || (chapters && level === 3));
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav>`;
}
