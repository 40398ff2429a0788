/** A block of code of a page. */
export type Block = {
  readonly language: string;
  readonly text: string;
  /** Its first line in the file. */
  readonly line: number;
  /**
   * The text after the language: `file=…` for a file that others use, `run=…` for one that is run, `background=/…/`, `output`,
   * `output-of=…`, `no-run=…`.
   */
  readonly marks: ReadonlyMap<string, string>;
};

const RUNNABLE = ["sh", "js", "ts", "python"];

/** Reads the blocks of code of a Markdown file, in order. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = "", info = "", text = ""] = match;
    const line = markdown.slice(0, match.index).split("\n").length;
    const marks = new Map(
      [...info.matchAll(/([\w-]+)(?:=(\S+))?/g)].map(([, name = "", value = ""]) => [name, value]),
    );
    return { language, text, line, marks };
  });
}

/** Whether a reader would run it. Blocks that tests should not run are marked. */
export function isRunnable({ language, marks }: Block): boolean {
  return RUNNABLE.includes(language) && !marks.has("no-run");
}
