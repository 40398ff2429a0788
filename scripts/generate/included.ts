import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

const WORDS = "docs/words.yaml";
const WORDS_PAGE = "CONTRIBUTING.md";

/** A word of the project, and what it replaces. A test finds what `match` and `names` say is never right. */
export type Word = {
  readonly say: string;
  readonly not: string;
  readonly match?: string;
  readonly names?: string;
};

/** CONTRIBUTING.md with the present table of words. */
export async function includeFiles(root: string): Promise<[path: string, text: string][]> {
  const read = (path: string) => readFile(join(root, path), "utf8");
  return [[WORDS_PAGE, includeWords(await read(WORDS_PAGE), parse(await read(WORDS)))]];
}

function includeWords(page: string, words: readonly Word[]): string {
  const rows = words.map(({ say, not }) => `| ${say} | ${not} |`);
  const table = ["| say | not |", "|---|---|", ...rows, ""].join("\n");
  return page.replace(/^\| say \| not \|\n(\|.*\n)+/m, () => table);
}
