/** Lints documents with Redocly, and returns its messages. */
import { runRedocly } from "../../scripts/shared/redocly.ts";

/** The linter's report about one document. */
export type LintReport = {
  readonly problems: readonly {
    readonly ruleId: string;
    readonly message: string;
    readonly location: readonly { readonly source: { readonly ref: string }; readonly pointer: string }[];
  }[];
};

/** Lints documents in one run of Redocly, and resolves with a report for each, in their order. */
export async function lintFiles(
  files: readonly string[],
  options: readonly string[],
  cwd?: string,
): Promise<LintReport[]> {
  const args = ["lint", ...files, "--format=json", ...options];
  const output = await runRedocly(args, cwd === undefined ? {} : { cwd }).catch((error: Error) => {
    // It exits with 1 when any document has errors.
    const { stdout, killed } = error.cause as { stdout?: string; killed?: boolean };
    // What it has said when its time is over is about some of the documents only.
    if (killed || !stdout?.startsWith("{")) throw error;
    return stdout;
  });
  return output.split(/(?<=^\})(?=\{)/m).map((report) => JSON.parse(report));
}
