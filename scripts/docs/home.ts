import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ElementContent, RootContent } from "hast";
import { ROOT } from "../command/root.ts";
import { renderDownloads } from "./downloads.ts";
import { element, toHtml, toHtmlTree } from "./html.ts";
import { type Assets, renderDocument } from "./layout.ts";
import { readText } from "./pages.ts";
import { type Rendering, renderLinks, type Site } from "./rendering.ts";

export const HOME_FILE = "docs/home.md";

/**
 * Renders the front page: the text before the first heading, its code and the drawing side by side, then a card for each
 * heading with a list, and then the text about the drawing.
 */
export function renderHome(assets: Assets, site: Site, rendering: Rendering): string {
  const { title = "", parts } = readText(readFileSync(join(ROOT, HOME_FILE), "utf8"));
  const { children } = toHtmlTree(renderLinks(site, HOME_FILE, parts, rendering));
  const [before = [], ...rest] = splitAtHeadings(children);
  const isCard = (nodes: readonly RootContent[]) => nodes.some((node) => isElement(node, "ul"));
  const isDrawing = (node: RootContent) => isElement(node, "h2") || node.type === "raw";
  const life = rest.filter((nodes) => !isCard(nodes)).flat();
  const content = [
    group("div", "words", [
      element("h1", {}, [{ type: "text", value: title }]),
      ...before.filter((node) => !isElement(node, "figure")),
      { type: "raw", value: renderDownloads() },
    ]),
    group(
      "div",
      "try",
      before.filter((node) => isElement(node, "figure")),
    ),
    group("section", "life", life.filter(isDrawing)),
    group(
      "div",
      "cards",
      rest.filter(isCard).map((nodes) => group("section", "card", nodes)),
    ),
    group(
      "div",
      "story",
      life.filter((node) => !isDrawing(node)),
    ),
  ];
  return renderDocument(assets, {
    title: `${String((site.published.document.info as { title: string }).title)}: API docs`,
    file: "index.html",
    markdown: "llms.txt",
    content: `<main id="content" class="home" tabindex="-1">${toHtml(content)}</main>`,
  });
}

function splitAtHeadings(nodes: readonly RootContent[]): RootContent[][] {
  const sections: RootContent[][] = [[]];
  for (const node of nodes) {
    if (isElement(node, "h2")) sections.push([]);
    sections.at(-1)?.push(node);
  }
  return sections;
}

function isElement(node: RootContent, tagName: string): boolean {
  return node.type === "element" && node.tagName === tagName;
}

function group(tagName: string, className: string, children: readonly RootContent[]) {
  return element(tagName, { className: [className] }, children as ElementContent[]);
}
