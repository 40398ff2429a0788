import { toString as textOf } from "mdast-util-to-string";
import { parseMarkdown } from "../../openapi/document/headings.ts";
import type { Kind } from "./marks.ts";

/** A numbered heading of one of the two documents to which marks and sources refer. */
export type Heading = {
  readonly kind: Kind;
  readonly id: string;
  readonly title: string;
  /** The parent heading. */
  readonly chapter: string;
  /** The reason why no test can enforce it, if there is one: `<!-- untestable: … -->` below the heading. */
  untestable?: string;
  /** The decisions on what a clause leaves open: `<!-- decided: D07, D08 -->` below the heading. */
  decided?: readonly string[];
};

/** The documents, the form of their headings, and the marks by which a test names one. */
export const DOCUMENTS = {
  clause: { file: "docs/interface.md", heading: /^(\d+\.\d+) (.+)$/ },
  decision: { file: "docs/decisions.md", heading: /^(D\d{2}[a-z]?) (.+)$/ },
} as const;

/** Reads the headings of one document, in order. */
export function readHeadings(kind: Kind, markdown: string): Heading[] {
  const headings: Heading[] = [];
  let chapter = "";
  for (const part of parseMarkdown(markdown).children) {
    if (part.type === "heading") {
      const text = textOf(part);
      const [, id, title] = (part.depth === 3 && DOCUMENTS[kind].heading.exec(text)) || [];
      if (part.depth === 2) chapter = text;
      if (id !== undefined && title !== undefined) headings.push({ kind, id, title, chapter });
    }
    const last = headings.at(-1);
    if (!last || part.type !== "html") continue;
    const [, what, text = ""] = /^<!-- *(\w+): *(.+?) *-->$/.exec(part.value) ?? [];
    if (what === "untestable") last.untestable = text;
    if (what === "decided") last.decided = text.split(/[\s,]+/);
  }
  return headings;
}
