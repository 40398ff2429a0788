import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Node } from "../../../scripts/lib/document/node.ts";
import { withTempDir } from "../../../scripts/lib/files.ts";
import { runRedocly } from "../../../scripts/lib/redocly.ts";

type LintReport = { readonly problems: readonly { readonly ruleId: string; readonly message: string }[] };

/** As many documents as one run of the linter is given. */
const BATCH = 25;

/** What the project's lint rules say first of each document; undefined of one that they pass. */
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
    // One report for each document, one straight after the other.
    const reports = output.split(/(?<=^\})(?=\{)/m).map((report): LintReport => JSON.parse(report));
    return documents.map((_document, index) => {
      const [problem] = reports[index]?.problems ?? [];
      return problem && `${problem.ruleId}: ${problem.message}`;
    });
  });
}

/** What the linter prints when it finds errors in any; it fails then. */
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
