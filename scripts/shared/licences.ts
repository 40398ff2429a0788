/** Collects the licences of packages whose code we ship. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The file with the licences, beside what contains code of other packages. */
export const LICENCES_FILE = "LICENSES.txt";

/** The licences of the packages that these files belong to, and the notices that such packages pass on. */
export async function licencesOf(paths: readonly string[]): Promise<string> {
  const folders = new Set(
    paths.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const entries = [...folders].sort().map(async (folder) => {
    const { name, version, license, licenses, author, repository } = JSON.parse(
      await readFile(join(folder, "package.json"), "utf8"),
    );
    const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|third.party)/i.test(file));
    const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
    if (texts.length === 0)
      texts.push(
        `The package comes without a licence file. Its package.json names this licence, the author ${author?.name ?? author ?? "of the repository"}, and ${repository?.url ?? repository}, which has the text.`,
      );
    // Old packages state it in a list.
    return `${name} ${version} (${license ?? licenses[0].type})\n\n${texts.join("\n").trim()}\n`;
  });
  return (await Promise.all(entries)).join(`\n${"-".repeat(80)}\n\n`);
}
