import GithubSlugger, { slug } from "github-slugger";
import type { Heading as HeadingNode, Nodes, Parents, Root, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { toString as textOf } from "mdast-util-to-string";
import { SKIP, visit } from "unist-util-visit";

/** A heading of a text. */
export type Heading = {
  readonly level: number;
  /** The text, without the marks. */
  readonly text: string;
  /** The anchor of its links, as code hosts generate it. */
  readonly anchor: string;
};

/** A heading with all text up to the next heading of its level or of a higher one. */
export type Section = Heading & { readonly markdown: string };

/** A link or a picture in a text. */
export type Link = { readonly text: string; readonly address: string; readonly isPicture: boolean };

type Edit = { readonly start: number; readonly end: number; readonly text: string };

/** Lists the headings of a text in order; lines in code and in comments don't count. */
export function headingsOf(markdown: string): Heading[] {
  return placedHeadings(markdown).map(({ heading }) => heading);
}

/** Lists the headings and the comments of a text in order; a comment with its `<!--`. */
export function outlineOf(markdown: string): (Heading | { readonly comment: string })[] {
  const headings = placedHeadings(markdown);
  const comments = parse(markdown).children.flatMap((node) =>
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
  const first = parse(markdown).children.find((node) => !isComment(node));
  if (first?.type !== "heading" || first.depth !== 1) {
    return { title: undefined, body: markdown.slice(offsets(first).start).trim() };
  }
  return { title: sourceOf(first, markdown), body: markdown.slice(offsets(first).end).trim() };
}

/** The anchor of a heading, as code hosts make it. */
export const toAnchor: (text: string) => string = slug;

/** Replaces each link and each picture by what `change` returns. */
export function mapLinks(markdown: string, change: (link: Link) => string): string {
  const edits: Edit[] = [];
  visit(parse(markdown), (node) => {
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
  visit(parse(markdown), "image", ({ url }) => void addresses.push(url));
  return addresses;
}

/**
 * Writes a text for readers of the site: without comments, which are for the tools of the repository, and with code in the
 * form that Redoc shows: fenced, also where it is only indented, and with nothing but the language after a fence, because
 * the rest of that line says how tests run the code.
 */
export function toPublished(markdown: string): string {
  const edits: Edit[] = [];
  visit(parse(markdown), (node) => {
    const { start, end } = offsets(node);
    if (isComment(node)) edits.push({ start, end: markdown[end] === "\n" ? end + 1 : end, text: "" });
    if (node.type !== "code") return;
    const [line = ""] = markdown.slice(start, end).split("\n", 1);
    if (!/^(```|~~~)/.test(line)) edits.push({ start, end, text: `\`\`\`text\n${node.value}\n\`\`\`` });
    else if (node.meta) edits.push({ start, end: start + line.length, text: `\`\`\`${node.lang}` });
  });
  return edit(markdown, edits);
}

/** Texts are parsed once, because pages are read and then rendered in two forms. */
const trees = new Map<string, Root>();

function parse(markdown: string): Root {
  const tree = trees.get(markdown) ?? fromMarkdown(markdown);
  trees.set(markdown, tree);
  return tree;
}

type Placed = { readonly heading: Heading; readonly start: number; readonly end: number };

function placedHeadings(markdown: string): Placed[] {
  const slugger = new GithubSlugger();
  return parse(markdown)
    .children.filter(isHeading)
    .map((node) => ({
      heading: { level: node.depth, text: sourceOf(node, markdown), anchor: slugger.slug(textOf(node)) },
      ...offsets(node),
    }));
}

function isHeading(node: RootContent): node is HeadingNode {
  return node.type === "heading";
}

function isComment(node: Nodes): boolean {
  return node.type === "html" && /^<!--[\s\S]*-->$/.test(node.value.trim());
}

/** The source text inside a node. */
function sourceOf(node: Exclude<Parents, Root>, markdown: string): string {
  return markdown.slice(offsets(node.children[0]).start, offsets(node.children.at(-1)).end);
}

function offsets(node: Pick<Nodes, "position"> | undefined): { start: number; end: number } {
  // The parser gives every node its position.
  return { start: node?.position?.start.offset ?? 0, end: node?.position?.end.offset ?? 0 };
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
