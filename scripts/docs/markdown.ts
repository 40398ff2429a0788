import type { Heading as HeadingNode, Html, Nodes, Root, RootContent } from "mdast";
import { toString as textOf } from "mdast-util-to-string";
import remarkGfm from "remark-gfm";
import remarkStringify from "remark-stringify";
import { unified } from "unified";
import { visit } from "unist-util-visit";
import { parseMarkdown } from "../../openapi/document/headings.ts";

/** The parts of a text, in order. */
export type Parts = readonly RootContent[];

/** A heading with all parts up to the next heading of its level or of a higher one. */
export type Section = { readonly title: string; readonly heading: HeadingNode; readonly parts: Parts };

export function partsOf(markdown: string): RootContent[] {
  return parseMarkdown(markdown).children;
}

/** Splits a text into its sections of a level, in order, and the parts before the first section. */
export function splitSections(parts: Parts, level: number): { before: Parts; sections: Section[] } {
  const before: RootContent[] = [];
  const sections: (Section & { parts: RootContent[] })[] = [];
  let current = before;
  for (const part of parts) {
    if (part.type === "heading" && part.depth <= level) {
      current = [];
      if (part.depth === level) sections.push({ title: textOf(part), heading: part, parts: current });
    } else current.push(part);
  }
  return { before, sections };
}

/** A comment in a text, with its `<!--`. */
export function isComment(node: Nodes): node is Html {
  return node.type === "html" && /^<!--[\s\S]*-->$/.test(node.value.trim());
}

const writer = unified()
  .use(remarkGfm, { tablePipeAlign: false })
  .use(remarkStringify, { bullet: "-", rule: "-" });

/**
 * Writes a text as Markdown for readers of the site: all code is fenced, with nothing but the language after a fence, because
 * the rest of that line says how tests run the code.
 */
export function toMarkdown(parts: Parts): string {
  const tree: Root = { type: "root", children: structuredClone([...parts]) };
  visit(tree, "code", (node) => {
    node.lang ??= "text";
    node.meta = null;
  });
  return writer.stringify(tree);
}

/** The plain words of a text, without its code and HTML. */
export function toWords(parts: Parts): string {
  return parts.map(wordsOf).join(" ").replaceAll(/\s+/g, " ").trim();
}

const BLOCKS = ["table", "tableRow", "list", "listItem", "blockquote"];

function wordsOf(node: Nodes): string {
  if (node.type === "html" || node.type === "code") return "";
  if (BLOCKS.includes(node.type) && "children" in node) return node.children.map(wordsOf).join(" ");
  return textOf(node, { includeHtml: false });
}

/** The paragraph of a text that begins with a name, such as `**Cause:**`, on one line. */
export function paragraphOf(text: string, name: string): string | undefined {
  const [, paragraph] = new RegExp(`\\*\\*${name}:\\*\\* ([\\s\\S]*?)(?:\\n\\n|$)`).exec(text) ?? [];
  return paragraph?.replaceAll(/\s+/g, " ").trim();
}
