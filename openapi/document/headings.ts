import GithubSlugger, { slug } from "github-slugger";
import type { Heading as HeadingNode, Root } from "mdast";
import { toString as textOf } from "mdast-util-to-string";
import remarkGfm from "remark-gfm";
import remarkParse from "remark-parse";
import { unified } from "unified";

/** A heading of a text. */
export type Heading = {
  readonly level: number;
  /** The text, without the marks. */
  readonly text: string;
  /** The anchor of its links, as code hosts generate it. */
  readonly anchor: string;
};

const parser = unified().use(remarkParse).use(remarkGfm, { singleTilde: false });

export function parseMarkdown(markdown: string): Root {
  return parser.parse(markdown);
}

/** Lists the headings of a text in order; lines in code and in comments don't count. */
export function headingsOf(markdown: string): Heading[] {
  return headingsIn(parseMarkdown(markdown)).map(({ heading }) => heading);
}

/** The same with their nodes. */
export function headingsIn({ children }: Pick<Root, "children">): { heading: Heading; node: HeadingNode }[] {
  const slugger = new GithubSlugger();
  return children.flatMap((node) => {
    if (node.type !== "heading") return [];
    const text = textOf(node);
    return [{ heading: { level: node.depth, text, anchor: slugger.slug(text) }, node }];
  });
}

/** The anchor of a heading, as code hosts make it. */
export const toAnchor: (text: string) => string = slug;
