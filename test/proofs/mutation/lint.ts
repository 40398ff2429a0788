import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Node } from "../../../openapi/document/node.ts";
import { withTempDir } from "../../../scripts/command/files.ts";
import { lintFiles } from "../../helpers/redocly-lint.ts";

/** The first error of the project's lint rules in each document; undefined for a document without errors. */
export function lintDocuments(documents: readonly Node[]): Promise<(string | undefined)[]> {
  return withTempDir(async (folder) => {
    const files = documents.map((_document, index) => join(folder, `${index}.json`));
    for (const [index, file] of files.entries()) await writeFile(file, JSON.stringify(documents[index]));
    const reports = await lintFiles(files, ["--config", "redocly.yaml", "--max-problems=1"]);
    return reports.map(({ problems: [problem] }) => problem && `${problem.ruleId}: ${problem.message}`);
  });
}
