import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, parse as parsePath } from "node:path";
import { parse } from "yaml";

/**
 * Files that programs and tests use, and that pages show: each block of code with such a file's name has its content. A page can
 * have a folder for its files.
 */
const EXAMPLES = "docs/examples";
const PAGES = ["client/README.md", "docs/guides/*.md"];

const WORDS = "docs/words.yaml";
const WORDS_PAGE = "CONTRIBUTING.md";

/** A word of the project, and what it replaces. A test finds what `match` and `names` say is never right. */
export type Word = {
  readonly say: string;
  readonly not: string;
  readonly match?: string;
  readonly names?: string;
};

/** The pages that show files of the repository, with the files as they are now. Throws for a file that no page shows. */
export async function includeFiles(root: string): Promise<[path: string, text: string][]> {
  const read = (path: string) => readFile(join(root, path), "utf8");
  const names = globSync("**/*.*", { cwd: join(root, EXAMPLES) });
  const examples = new Map(
    await Promise.all(names.map(async (name) => [name, await read(`${EXAMPLES}/${name}`)] as const)),
  );
  const shown = new Set<string>();
  const pages: [string, string][] = [];
  for (const path of globSync(PAGES, { cwd: root })) {
    const text = (await read(path)).replaceAll(
      /^(```\w+ file=(\S+).*\n)[\s\S]*?^```$/gm,
      (block, line, name) => {
        const file = [`${parsePath(path).name}/${name}`, name].find((one) => examples.has(one));
        if (file === undefined) return block;
        shown.add(file);
        return `${line}${examples.get(file)}\`\`\``;
      },
    );
    pages.push([path, text]);
  }
  const missing = names.filter((name) => !shown.has(name));
  if (missing.length > 0) throw new Error(`No page shows ${missing.join(", ")} of ${EXAMPLES}.`);
  return [...pages, [WORDS_PAGE, includeWords(await read(WORDS_PAGE), parse(await read(WORDS)))]];
}

function includeWords(page: string, words: readonly Word[]): string {
  const rows = words.map(({ say, not }) => `| ${say} | ${not} |`);
  const table = ["| say | not |", "|---|---|", ...rows, ""].join("\n");
  return page.replace(/^\| say \| not \|\n(\|.*\n)+/m, () => table);
}
