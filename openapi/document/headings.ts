import GithubSlugger, { slug } from "github-slugger";
import type { Heading as HeadingNode, Nodes, Parents, Root, RootContent } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { toString as textOf } from "mdast-util-to-string";

/** A heading of a text. */
export type Heading = {
  readonly level: number;
  /** The text, without the marks. */
  readonly text: string;
  /** The anchor of its links, as code hosts generate it. */
  readonly anchor: string;
};

/** Lists the headings of a text in order; lines in code and in comments don't count. */
export function headingsOf(markdown: string): Heading[] {
  return placedHeadings(markdown).map(({ heading }) => heading);
}

/** The anchor of a heading, as code hosts make it. */
export const toAnchor: (text: string) => string = slug;

/** Texts are parsed once, because pages are read and then rendered in two forms. */
const trees = new Map<string, Root>();

export function parseMarkdown(markdown: string): Root {
  const tree = trees.get(markdown) ?? fromMarkdown(markdown);
  trees.set(markdown, tree);
  return tree;
}

export type PlacedHeading = { readonly heading: Heading; readonly start: number; readonly end: number };

export function placedHeadings(markdown: string): PlacedHeading[] {
  const slugger = new GithubSlugger();
  return parseMarkdown(markdown)
    .children.filter(isHeading)
    .map((node) => ({
      heading: { level: node.depth, text: sourceOf(node, markdown), anchor: slugger.slug(textOf(node)) },
      ...offsets(node),
    }));
}

function isHeading(node: RootContent): node is HeadingNode {
  return node.type === "heading";
}

/** The source text inside a node. */
export function sourceOf(node: Exclude<Parents, Root>, markdown: string): string {
  return markdown.slice(offsets(node.children[0]).start, offsets(node.children.at(-1)).end);
}

export function offsets(node: Pick<Nodes, "position"> | undefined): { start: number; end: number } {
  // The parser gives every node its position.
  return { start: node?.position?.start.offset ?? 0, end: node?.position?.end.offset ?? 0 };
}
