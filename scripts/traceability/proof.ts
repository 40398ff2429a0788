import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Mark } from "./marks.ts";
import { readTestMarks } from "./traceability.ts";

/** The entry of one test in Vitest's JSON report. */
type Result = { readonly ancestorTitles: string[]; readonly title: string; readonly status: string };
export type Report = {
  readonly testResults: { readonly name: string; readonly assertionResults: Result[] }[];
};

/**
 * The marks of a project without a test that ran and passed, according to a report; those in files that did not run only
 * for a `whole` run.
 */
export async function findUnproven(
  root: string,
  reportPath: string,
  { whole }: { readonly whole: boolean },
): Promise<string[]> {
  const report: Report = JSON.parse(await readFile(join(root, reportPath), "utf8"));
  const ran = new Set(report.testResults.map(({ name }) => relative(root, name)));
  const { marks } = await readTestMarks(root);
  return unprovenBy(
    report,
    marks.filter(({ file }) => whole || ran.has(file)),
    root,
  );
}

/** One line for each mark without a passed test. */
export function unprovenBy(report: Report, marks: readonly Mark[], root: string): string[] {
  const results = new Map(
    report.testResults.map(({ name, assertionResults }) => [relative(root, name), assertionResults]),
  );
  const unproven = marks.filter(
    (mark) => !(results.get(mark.file) ?? []).some((result) => proves(result, mark)),
  );
  return unproven.map(
    ({ kind, id, file, line, titles }) =>
      `${kind} ${id} is marked at ${file}:${line}, but no such test passed: ${titles.join(" > ")}`,
  );
}

function proves({ ancestorTitles, title, status }: Result, { titles, group }: Mark): boolean {
  const path = [...ancestorTitles, title];
  const long = group ? path.length > titles.length : path.length === titles.length;
  return status === "passed" && long && titles.every((one, index) => isTitle(one, path[index] ?? ""));
}

/** Whether a written title is that of a test which ran: `…` stands for any value. */
function isTitle(written: string, title: string): boolean {
  const parts = written.split("…").map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^]*")}$`).test(title);
}
