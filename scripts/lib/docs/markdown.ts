/** A heading of a text. */
export type Heading = {
  readonly level: number;
  readonly text: string;
  /** What links to it say after `#`, as code hosts make it. */
  readonly anchor: string;
};

const FENCED = /(^(?:```|~~~)[\s\S]*?^(?:```|~~~)[^\S\n]*$)/m;
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

/** Changes what is not a block of code; the pieces at odd places of a split are. */
function mapText(markdown: string, change: (text: string) => string): string {
  const pieces = markdown.split(FENCED);
  return pieces.map((piece, index) => (index % 2 === 0 ? change(piece) : piece)).join("");
}

/** Changes what is no code at all. `change` sees each piece of code in a line as one mark. */
function mapProse(markdown: string, change: (prose: string) => string): string {
  return mapText(markdown, (text) => {
    const codes: string[] = [];
    const marked = text.replace(/`[^`\n]+`/g, (code) => `\uE000${codes.push(code) - 1}\uE001`);
    return change(marked).replace(/\uE000(\d+)\uE001/g, (_, place: string) => codes[Number(place)] ?? "");
  });
}

/** The title, which is the first-level heading at the top, and the rest. */
export function splitTitle(markdown: string): { title: string | undefined; body: string } {
  const text = markdown.replace(/^(?:<!--[\s\S]*?-->\s*)+/, "");
  const [line, title] = /^# (.+)\n/.exec(text) ?? [""];
  return { title, body: text.slice(line.length).trim() };
}

/** Takes comments out: they are for the tools of the repository. */
export function withoutComments(markdown: string): string {
  return mapProse(markdown, (prose) => prose.replace(/<!--[\s\S]*?-->\n?/g, ""));
}

/** The headings of a text, in order. */
export function headingsOf(markdown: string): Heading[] {
  const headings: Heading[] = [];
  mapHeadings(markdown, (heading) => {
    headings.push(heading);
    return "";
  });
  return headings;
}

/** Replaces each heading line, in order. */
export function mapHeadings(markdown: string, change: (heading: Heading) => string): string {
  const seen = new Map<string, number>();
  return mapText(markdown, (text) =>
    text.replace(/^(#{1,6}) (.+)$/gm, (_, marks: string, name: string) => {
      const anchor = toAnchor(name);
      const count = seen.get(anchor) ?? 0;
      seen.set(anchor, count + 1);
      return change({
        level: marks.length,
        text: name,
        anchor: count === 0 ? anchor : `${anchor}-${count}`,
      });
    }),
  );
}

/** The anchor of a heading, as code hosts make it. */
export function toAnchor(text: string): string {
  const kept = text.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, "");
  return kept.replaceAll(" ", "-");
}

/** A link of a text, or a picture in it. */
export type Link = { readonly text: string; readonly address: string; readonly isPicture: boolean };

/** Replaces each link by what `change` makes of it. */
export function mapLinks(markdown: string, change: (link: Link) => string): string {
  return mapProse(markdown, (prose) =>
    prose.replace(LINK, (_, mark: string, text: string, address: string) =>
      change({ text, address, isPicture: mark === "!" }),
    ),
  );
}

/** The addresses of the pictures in a text. */
export function picturesIn(markdown: string): string[] {
  const addresses: string[] = [];
  mapLinks(markdown, ({ address, isPicture }) => {
    if (isPicture) addresses.push(address);
    return "";
  });
  return addresses;
}

/** Gives fences to code that is only indented: Redoc shows that as a paragraph. */
export function fenceIndented(markdown: string): string {
  return mapText(markdown, (text) =>
    text.replace(/(?<=\n\n)(?: {4}.*\n?)+/g, (block) => {
      const code = block.replaceAll(/^ {4}/gm, "").trimEnd();
      return `\`\`\`text\n${code}\n\`\`\`\n`;
    }),
  );
}

/** Leaves of each block of code's first line only the language: the rest says to tests how it runs. */
export function plainFences(markdown: string): string {
  return markdown.replace(/^(```\w+) .*$/gm, "$1");
}
