/** Finds the code that a guide shows, so that tests can run it. */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A block of code of a page, or a file that the page shows. */
export type Block = {
  readonly language: string;
  readonly text: string;
  /** Its first line in the page. */
  readonly line: number;
  /**
   * The text after the language: `file=…` for a file that others use, `run=…` for one that is run, `background=/…/`, `output`,
   * `output-of=…`.
   */
  readonly marks: ReadonlyMap<string, string>;
};

/** Reads the blocks of code of a page, and the files that it shows by lines such as `<<< ../examples/store.mjs{js}`, in order. */
export function blocksOf(page: string): Block[] {
  const markdown = readFileSync(page, "utf8");
  return [...markdown.matchAll(/^```(\w+)([^\n]*)\n([\s\S]*?)^```$|^<<< ([^\s{]+)/gm)].map((match) => {
    const [, language = "", info = "", code = "", shown] = match;
    const line = markdown.slice(0, match.index).split("\n").length;
    if (shown !== undefined) {
      const text = readFileSync(join(dirname(page), shown), "utf8");
      return { language: "", text, line, marks: new Map([["file", basename(shown)]]) };
    }
    const marks = new Map(
      [...info.matchAll(/([\w-]+)(?:=(\S+))?/g)].map(([, name = "", value = ""]) => [name, value]),
    );
    return { language, text: code, line, marks };
  });
}
