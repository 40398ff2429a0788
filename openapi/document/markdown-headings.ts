/** Lists the headings of a text in Markdown in order; lines in code and in comments don't count. */
export function headingsOf(markdown: string): Heading[] {
  const prose = markdown.replaceAll(/^(```+|~~~+)[\s\S]*?^\1|<!--[\s\S]*?-->/gm, "");
  const seen = new Map<string, number>();
  return Array.from(prose.matchAll(/^(#{1,6}) +(.+?) *$/gm), ([, marks = "", written = ""]) => {
    const text = written.replaceAll(/`|\*\*/g, "").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    const anchor = toAnchor(text);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return { level: marks.length, text, anchor: count === 0 ? anchor : `${anchor}-${count}` };
  });
}

export type Heading = {
  readonly level: number;
  /** The text, without the marks. */
  readonly text: string;
  /** The anchor of its links, as code hosts generate it. */
  readonly anchor: string;
};

/** The anchor of a heading, as code hosts make it. */
export function toAnchor(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}
