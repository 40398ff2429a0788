import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Element, ElementContent, RootContent } from "hast";
import { toHtml } from "hast-util-to-html";
import { ROOT } from "../command/redocly.ts";
import { renderTree } from "./html.ts";
import { type Assets, renderDocument } from "./layout.ts";
import { splitTitle } from "./markdown.ts";
import { type Rendering, renderLinks, type Site } from "./rendering.ts";
import { drawStates, statusSchemaOf } from "./states.ts";

export const HOME_FILE = "docs/home.md";
const GAP = "<!-- states -->";

/**
 * Renders the front page: the text before the first heading, its code and the drawing side by side, then a card for each
 * heading with a list, and then the text about the drawing.
 */
export function renderHome(assets: Assets, site: Site, rendering: Rendering): string {
  const { title = "", body } = splitTitle(readFileSync(join(ROOT, HOME_FILE), "utf8"));
  const schema = statusSchemaOf(site.published.document);
  const drawing = drawStates(schema.enum, schema["x-transitions"]);
  const linked = renderLinks(site, HOME_FILE, body, rendering).replace(GAP, () => drawing);
  const { children } = renderTree(linked, []);
  const [before = [], ...rest] = splitAtHeadings(children);
  const code = before.filter((node) => isElement(node, "figure"));
  const words = before.filter((node) => !isElement(node, "figure"));
  const isCard = (nodes: readonly RootContent[]) => nodes.some((node) => isElement(node, "ul"));
  const isDrawing = (node: RootContent) => isElement(node, "h2") || (node.type as string) === "raw";
  const life = rest.filter((nodes) => !isCard(nodes)).flat();
  const content = [
    element("div", "words", [element("h1", "", [{ type: "text", value: title }]), ...words]),
    element("div", "try", code),
    element("section", "life", life.filter(isDrawing)),
    element(
      "div",
      "cards",
      rest.filter(isCard).map((nodes) => element("section", "card", nodes)),
    ),
    element(
      "div",
      "story",
      life.filter((node) => !isDrawing(node)),
    ),
  ];
  const html = toHtml({ type: "root", children: content }, { allowDangerousHtml: true });
  return renderDocument(assets, {
    title: `${String((site.published.document.info as { title: string }).title)}: API docs`,
    file: "index.html",
    markdown: "llms.txt",
    content: `<main id="content" class="home" tabindex="-1">${html}</main>`,
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

function element(tagName: string, className: string, children: readonly RootContent[]): Element {
  const properties = className === "" ? {} : { className: [className] };
  return { type: "element", tagName, properties, children: children as ElementContent[] };
}
