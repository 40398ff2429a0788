import type { Nodes } from "mdast";
import { SKIP, visit } from "unist-util-visit";
import {
  type Heading,
  offsets,
  parseMarkdown,
  placedHeadings,
  sourceOf,
} from "../../openapi/document/headings.ts";

/** A heading with all text up to the next heading of its level or of a higher one. */
export type Section = Heading & { readonly markdown: string };

/** A link or a picture in a text. */
export type Link = { readonly text: string; readonly address: string; readonly isPicture: boolean };

type Edit = { readonly start: number; readonly end: number; readonly text: string };

/** Lists the headings and the comments of a text in order; a comment with its `<!--`. */
export function outlineOf(markdown: string): (Heading | { readonly comment: string })[] {
  const headings = placedHeadings(markdown);
  const comments = parseMarkdown(markdown).children.flatMap((node) =>
    node.type === "html" && isComment(node) ? [{ comment: node.value, ...offsets(node) }] : [],
  );
  return [...headings, ...comments]
    .toSorted((one, other) => one.start - other.start)
    .map((one) => ("heading" in one ? one.heading : { comment: one.comment }));
}

/** Splits a text into its sections of a level, in order, and the part before the first section. */
export function splitSections(markdown: string, level: number): { before: string; sections: Section[] } {
  const bounds = placedHeadings(markdown).filter(({ heading }) => heading.level <= level);
  const sections = bounds.flatMap(({ heading, start }, index) => {
    const text = markdown.slice(start, bounds[index + 1]?.start);
    return heading.level === level ? [{ ...heading, markdown: text }] : [];
  });
  const first = bounds.find(({ heading }) => heading.level === level);
  return { before: markdown.slice(0, first?.start), sections };
}

/** Replaces each heading line, in order. */
export function mapHeadings(markdown: string, change: (heading: Heading) => string): string {
  return edit(
    markdown,
    placedHeadings(markdown).map(({ heading, start, end }) => ({ start, end, text: change(heading) })),
  );
}

/** Separates the title, which is the first-level heading at the top, from the rest. Comments before it are left out. */
export function splitTitle(markdown: string): { title: string | undefined; body: string } {
  const first = parseMarkdown(markdown).children.find((node) => !isComment(node));
  if (first?.type !== "heading" || first.depth !== 1) {
    return { title: undefined, body: markdown.slice(offsets(first).start).trim() };
  }
  return { title: sourceOf(first, markdown), body: markdown.slice(offsets(first).end).trim() };
}

/** Replaces each link and each picture by what `change` returns. */
export function mapLinks(markdown: string, change: (link: Link) => string): string {
  const edits: Edit[] = [];
  visit(parseMarkdown(markdown), (node) => {
    if (node.type !== "link" && node.type !== "image") return undefined;
    const { start, end } = offsets(node);
    const isPicture = node.type === "image";
    // A bare address, or one in angle brackets, is a link without a text of its own.
    if (!isPicture && markdown[start] !== "[") return undefined;
    const text = isPicture ? (node.alt ?? "") : sourceOf(node, markdown);
    edits.push({ start, end, text: change({ text, address: node.url, isPicture }) });
    return SKIP;
  });
  return edit(markdown, edits);
}

/** Lists the addresses of the pictures in a text. */
export function picturesIn(markdown: string): string[] {
  const addresses: string[] = [];
  visit(parseMarkdown(markdown), "image", ({ url }) => void addresses.push(url));
  return addresses;
}

/**
 * Writes a text for readers of the site: without comments, which are for the tools of the repository, and with code in the
 * form that Redoc shows: fenced, also where it is only indented, and with nothing but the language after a fence, because
 * the rest of that line says how tests run the code.
 */
export function toPublished(markdown: string): string {
  const edits: Edit[] = [];
  visit(parseMarkdown(markdown), (node) => {
    const { start, end } = offsets(node);
    if (isComment(node)) edits.push({ start, end: markdown[end] === "\n" ? end + 1 : end, text: "" });
    if (node.type !== "code") return;
    const [line = ""] = markdown.slice(start, end).split("\n", 1);
    if (!/^(```|~~~)/.test(line)) edits.push({ start, end, text: `\`\`\`text\n${node.value}\n\`\`\`` });
    else if (node.meta) edits.push({ start, end: start + line.length, text: `\`\`\`${node.lang}` });
  });
  return edit(markdown, edits);
}

function isComment(node: Nodes): boolean {
  return node.type === "html" && /^<!--[\s\S]*-->$/.test(node.value.trim());
}

function edit(markdown: string, edits: readonly Edit[]): string {
  let text = "";
  let position = 0;
  for (const { start, end, text: replacement } of edits) {
    text += markdown.slice(position, start) + replacement;
    position = end;
  }
  return text + markdown.slice(position);
}
