import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Node } from "../../../openapi/document/node.ts";
import { withTempDir } from "../../../scripts/command/files.ts";
import { lintFiles } from "../../helpers/redocly-lint.ts";

/** The number of documents in one run of the linter. */
const BATCH = 25;

/** The first error of the project's lint rules in each document; undefined for a document without errors. */
export async function lintDocuments(documents: readonly Node[]): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (let start = 0; start < documents.length; start += BATCH) {
    found.push(...(await lintBatch(documents.slice(start, start + BATCH))));
  }
  return found;
}

async function lintBatch(documents: readonly Node[]): Promise<(string | undefined)[]> {
  return withTempDir(async (folder) => {
    const files = documents.map((_document, index) => join(folder, `${index}.json`));
    await Promise.all(
      documents.map((document, index) => writeFile(files[index] ?? "", JSON.stringify(document))),
    );
    const reports = await lintFiles(files, ["--config", "redocly.yaml", "--max-problems=1"]);
    return reports.map(({ problems: [problem] }) => problem && `${problem.ruleId}: ${problem.message}`);
  });
}
