import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Node } from "../../../openapi/document/node.ts";
import { withTempDir } from "../../../scripts/command/files.ts";
import { runRedocly } from "../../../scripts/command/redocly.ts";

type LintReport = { readonly problems: readonly { readonly ruleId: string; readonly message: string }[] };

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
    const output = await findProblems(files);
    if (output === undefined) return documents.map(() => undefined);
    // One report for each document, one directly after the other.
    const reports = output.split(/(?<=^\})(?=\{)/m).map((report): LintReport => JSON.parse(report));
    return documents.map((_document, index) => {
      const [problem] = reports[index]?.problems ?? [];
      return problem && `${problem.ruleId}: ${problem.message}`;
    });
  });
}

/** The output of the linter, which fails when any document has errors. */
async function findProblems(files: readonly string[]): Promise<string | undefined> {
  try {
    await runRedocly(["lint", ...files, "--config", "redocly.yaml", "--format=json", "--max-problems=1"]);
    return undefined;
  } catch (error) {
    const { stdout } = (error as Error).cause as { stdout?: string };
    if (!stdout?.startsWith("{")) throw error;
    return stdout;
  }
}
