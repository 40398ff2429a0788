import type { Element, ElementContent, Root as HtmlRoot } from "hast";
import { toHtml } from "hast-util-to-html";
import { common, createLowlight } from "lowlight";
import type { Code, Nodes } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { toHast } from "mdast-util-to-hast";
import { gfmTable } from "micromark-extension-gfm-table";
import { visit } from "unist-util-visit";

const highlighter = createLowlight(common);

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

/** Renders Markdown as HTML. The nth heading gets the nth id, and a link to itself. */
export function renderHtml(markdown: string, ids: readonly string[]): string {
  return toHtml(renderTree(markdown, ids), { allowDangerousHtml: true });
}

/** The same as a tree, for pages that arrange their parts in another order. */
export function renderTree(markdown: string, ids: readonly string[]): HtmlRoot {
  const tree = fromMarkdown(markdown, {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  const html = toHast(tree as Nodes, {
    allowDangerousHtml: true,
    handlers: { code: (_: unknown, node: Code) => toFigure(node) },
  }) as HtmlRoot;
  let next = 0;
  visit(html, "element", (node, index, parent) => {
    if (/^h[2-6]$/.test(node.tagName)) addId(node, ids[next++]);
    if (node.tagName === "code") colourStatus(node);
    if (node.tagName === "table" && parent && index !== undefined && !isBox(parent)) {
      parent.children[index] = box("table", "Table", [node]);
    }
  });
  return html;
}

function isBox(parent: { type: string }): boolean {
  return (parent as Element).properties?.className?.toString() === "table";
}

/** Content wider than the page scrolls sideways, by keyboard too. */
function box(className: string, label: string, children: ElementContent[]): Element {
  return element("div", { className: [className], tabIndex: 0, role: "region", ariaLabel: label }, children);
}

function addId(heading: Element, id: string | undefined): void {
  if (id === undefined) return;
  heading.properties.id = id;
  const name = textOf(heading);
  heading.children.push(
    element("a", { className: ["anchor"], href: `#${id}`, ariaLabel: `Link to ${name}` }, [text("#")]),
  );
}

function colourStatus(code: Element): void {
  const name = textOf(code);
  if (STATUSES.includes(name)) code.properties.className = statusClasses(name);
}

/** Such as `["status", "terminal-failed"]`, which the pages' style knows. */
export function statusClasses(status: string): string[] {
  return ["status", status.toLowerCase().replace("_", "-")];
}

/** A block of code under its file's name or its language; the output of a program looks different. */
function toFigure({ lang, meta, value }: Code): Element {
  const language = lang ?? "text";
  const marks = meta ?? "";
  const [, file] = /(?:^|\s)(?:file|run)=(\S+)/.exec(marks) ?? [];
  const isOutput = /\boutput\b/.test(marks);
  const title = isOutput ? "Output" : (file ?? LANGUAGES[language] ?? language);
  const known = highlighter.registered(language);
  const code = known ? (highlighter.highlight(language, value).children as ElementContent[]) : [text(value)];
  return element("figure", { className: isOutput ? ["code", "output"] : ["code"] }, [
    element("figcaption", {}, [
      element("span", { className: [file && !isOutput ? "file" : "language"] }, [text(title)]),
      ...(file && !isOutput
        ? [element("span", { className: ["language"] }, [text(LANGUAGES[language] ?? language)])]
        : []),
    ]),
    element("pre", { tabIndex: 0, role: "region", ariaLabel: `${title}${file ? "" : " code"}` }, [
      element("code", {}, code),
    ]),
  ]);
}

function element(tagName: string, properties: Element["properties"], children: ElementContent[]): Element {
  return { type: "element", tagName, properties, children };
}

function text(value: string): ElementContent {
  return { type: "text", value };
}

function textOf(node: Element): string {
  return node.children
    .map((child) => (child.type === "text" ? child.value : child.type === "element" ? textOf(child) : ""))
    .join("");
}
