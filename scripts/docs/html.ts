import type { Element, ElementContent, Root as HtmlRoot, RootContent } from "hast";
import { toString as textOf } from "mdast-util-to-string";
import rehypeAutolinkHeadings from "rehype-autolink-headings";
import rehypeHighlight from "rehype-highlight";
import rehypeStringify from "rehype-stringify";
import remarkRehype from "remark-rehype";
import { unified } from "unified";
import { SKIP, visit } from "unist-util-visit";
import type { Parts } from "./markdown.ts";

/** The names of languages above a block of code. */
const LANGUAGES: Readonly<Record<string, string>> = {
  sh: "Shell",
  js: "JavaScript",
  ts: "TypeScript",
  json: "JSON",
  python: "Python",
  yaml: "YAML",
  nginx: "nginx",
  text: "Text",
  java: "Java",
  go: "Go",
  php: "PHP",
  ruby: "Ruby",
  csharp: "C#",
};

/** The statuses of a refund, which are shown in the colours of the drawing. */
export const STATUSES = ["PENDING", "AUTHORIZED", "TERMINAL_FAILED"];

/** Escapes a text for HTML, attributes included. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const renderer = unified()
  .use(remarkRehype, { allowDangerousHtml: true })
  .use(rehypeHighlight)
  .use(rehypeAutolinkHeadings, {
    behavior: "append",
    properties: (heading) => ({ className: ["anchor"], ariaLabel: `Link to ${textOf(heading)}` }),
    content: { type: "text", value: "#" },
  })
  .use(() => decorate);

const writer = unified().use(rehypeStringify, { allowDangerousHtml: true });

/** Renders a text as a tree of HTML, for pages that arrange their parts in another order. */
export function toHtmlTree(parts: Parts): HtmlRoot {
  return renderer.runSync({ type: "root", children: [...parts] });
}

export function toHtml(children: RootContent[]): string {
  return writer.stringify({ type: "root", children });
}

/** Puts code into figures, tables into boxes that scroll sideways, and statuses into their colours. */
function decorate(tree: HtmlRoot): void {
  visit(tree, { tagName: "code" }, (node) => {
    if (node.type === "element" && STATUSES.includes(textOf(node)))
      node.properties.className = statusClasses(textOf(node));
  });
  visit(tree, { tagName: "td" }, (cell) => visit(cell, { tagName: "code" }, breakAfterUnderscores));
  visit(tree, "element", (node, index, parent) => {
    if (!parent || index === undefined) return undefined;
    if (node.tagName === "pre") parent.children[index] = toFigure(node);
    else if (node.tagName === "table")
      parent.children[index] = box(
        "div",
        "Table",
        ["table", ...(stackOnPhones(node) ? ["stack"] : [])],
        [node],
      );
    else return undefined;
    return SKIP;
  });
}

/** Where a narrow cell breaks a name such as `PAYLOAD_TOO_LARGE`, it would otherwise break it at any letter. */
function breakAfterUnderscores(code: RootContent | HtmlRoot): void {
  if (code.type !== "element") return;
  code.children = code.children.flatMap((child): ElementContent[] => {
    if (child.type !== "text") return [child];
    const [first = "", ...rest] = child.value.split(/(?<=_)/);
    const after = rest.flatMap((value) => [element("wbr", {}, []), { type: "text" as const, value }]);
    return [{ type: "text", value: first }, ...after];
  });
}

/** Words of this many characters fit beside each other on a phone. */
const PHONE_CHARACTERS = 34;
/** Tables with more columns compare many things. They stay tables, and scroll. */
const MOST_STACKED = 5;

/** Gives the cells of a table whose words don't fit on a phone the names of their columns, which they show when they are stacked there. */
function stackOnPhones(table: Element): boolean {
  const [names = [], ...rows] = rowsOf(table).map((cells) => cells.map((cell) => textOf(cell)));
  const longest = names.map((_, column) =>
    Math.max(...rows.flatMap((cells) => (cells[column] ?? "").split(/\s+/)).map(({ length }) => length)),
  );
  const width = longest.reduce((sum, length) => sum + length, 0);
  if (names.length < 3 || names.length > MOST_STACKED || width <= PHONE_CHARACTERS) return false;
  for (const cells of rowsOf(table).slice(1))
    for (const [column, cell] of cells.entries()) cell.properties.dataColumn = names[column];
  return true;
}

function rowsOf(table: Element): Element[][] {
  const rows: Element[][] = [];
  visit(table, { tagName: "tr" }, (row) => {
    rows.push((row as Element).children.filter((cell) => cell.type === "element"));
  });
  return rows;
}

/** Such as `["status", "terminal-failed"]`, which the pages' style knows. */
export function statusClasses(status: string): string[] {
  return ["status", status.toLowerCase().replace("_", "-")];
}

/** A block of code under its file's name or its language; the output of a program looks different. */
function toFigure({ children: [code] }: Element): Element {
  const { properties, data } = code as Element & { data?: { meta?: string | null } };
  const [, language = "text"] = /language-(\S+)/.exec(String(properties.className ?? "")) ?? [];
  const marks = data?.meta ?? "";
  const isOutput = /\boutput\b/.test(marks);
  const [, file] = (!isOutput && /(?:^|\s)(?:file|run)=(\S+)/.exec(marks)) || [];
  const name = isOutput ? "Output" : (LANGUAGES[language] ?? language);
  const caption = [...(file ? [label("file", file)] : []), label("language", name)];
  return element("figure", { className: isOutput ? ["code", "output"] : ["code"] }, [
    element("figcaption", {}, caption),
    box("pre", file ?? `${name} code`, [], [{ ...(code as Element), properties: {} }]),
  ]);
}

function label(className: string, value: string): Element {
  return element("span", { className: [className] }, [{ type: "text", value }]);
}

/** Content wider than the page scrolls sideways, by keyboard too. */
function box(
  tagName: string,
  label: string,
  className: readonly string[],
  children: ElementContent[],
): Element {
  const properties = {
    ...(className.length > 0 && { className: [...className] }),
    tabIndex: 0,
    role: "region",
  };
  return element(tagName, { ...properties, ariaLabel: label }, children);
}

export function element(
  tagName: string,
  properties: Element["properties"],
  children: ElementContent[],
): Element {
  return { type: "element", tagName, properties, children };
}
