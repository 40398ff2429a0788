import type { Result, SandboxCalls } from "../calls.ts";
import { type Finding, REASONS } from "./judge.ts";

/** A run of the tests: the plain one first, then those of bad days. */
export type Run = {
  readonly title: string;
  readonly seconds: number;
  /** Null when it was stopped. */
  readonly code: number | null;
  readonly findings: readonly Finding[];
  /** What the tests printed that looks like their first failure. */
  readonly failure: string;
  /** Why this run shows nothing. */
  readonly unmet?: string | undefined;
};

export const hasFailed = ({ code, findings, unmet }: Run) =>
  unmet === undefined && (code !== 0 || findings.length > 0);

/** The first thing that went wrong in a run, in plain words. */
export function explain({ code, findings, failure, unmet }: Run): string {
  if (unmet !== undefined) return unmet;
  const [first] = findings;
  const tests =
    code === null
      ? "the tests did not end in time"
      : code === 0
        ? ""
        : `the tests failed (exit code ${code})`;
  const said = failure === "" || tests === "" ? tests : `${tests}: ${failure}`;
  return [first?.text, said].filter(Boolean).join("; ") || "passed";
}

/** What all merchants together have met. */
export async function readCoverage(sandbox: { as(token: string): SandboxCalls }, tokens: readonly string[]) {
  const all = await Promise.all(tokens.map((token) => sandbox.as(token).coverage()));
  const counts = all[0]?.items.map((item, index) => ({
    ...item,
    count: all.reduce((sum, { items }) => sum + (items[index]?.count ?? 0), 0),
  }));
  const items = counts ?? [];
  const sum = (some: readonly { count: number }[]) => ({
    met: some.filter(({ count }) => count > 0).length,
    total: some.length,
  });
  const kinds = [...Map.groupBy(items, ({ kind }) => kind)].map(([kind, some]) => ({ kind, ...sum(some) }));
  return { ...sum(items), percent: Math.floor((100 * sum(items).met) / items.length), kinds, items };
}

/** @throws Error for a name that the contract doesn't have: it would require nothing, unnoticed */
export function findMissing(
  { percent, items }: Result<"getCoverage">,
  required: readonly string[],
): Finding[] {
  return required.flatMap((name): Finding[] => {
    const least = /^(\d{1,3})%$/.exec(name)?.[1];
    if (least !== undefined)
      return percent >= Number(least)
        ? []
        : [{ id: "required", text: `${percent} % of the contract were met` }];
    const found = items.filter(
      (item) => item.kind === name || item.name === name || item.name.endsWith(` ${name}`),
    );
    if (found.length === 0) throw new Error(`The contract has no element ${name}. \`coverage\` lists them.`);
    return found
      .filter(({ count }) => count === 0)
      .map((item) => ({ id: "required", text: `no test met ${item.name}` }));
  });
}

/** Coverage in at most ten lines. */
export function describeCoverage({ percent, met, total, kinds, items }: Result<"getCoverage">): string[] {
  const missing = items.filter(({ count, kind }) => count === 0 && kind !== "FIELD").map(({ name }) => name);
  const named = missing.slice(0, 12).join(", ");
  const more = missing.length > 12 ? `, and ${missing.length - 12} more` : "";
  return [
    `Of the contract your tests met ${met} of ${total} elements (${percent} %):`,
    ...kinds.map(
      (one) => `  ${one.kind.toLowerCase().replace("_", " ").padEnd(12)}${one.met} of ${one.total}`,
    ),
    ...(missing.length > 0 ? [`  not met: ${named}${more}`] : []),
  ];
}

const toText = (text: string) =>
  text.replaceAll(
    /[&<>"]|[^\t\n\r -\uFFFD]/g,
    (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one] ?? "�",
  );

/** A suite for each run: a case for the tests themselves, and one for each finding. */
export function toJunit(runs: readonly Run[]): string {
  const suites = runs.map((run) => {
    const tests = run.code === 0 ? "" : explain({ ...run, findings: [] });
    const cases = [
      { name: "the tests", failure: tests },
      ...run.findings.map(({ id, text }) => ({ name: id, failure: text })),
    ];
    const lines = cases.map(({ name, failure }) => {
      const inner =
        run.unmet === undefined ? failure && `<failure message="${toText(failure)}"/>` : "<skipped/>";
      return `<testcase classname="exec" name="${name}" time="${run.seconds}">${inner}</testcase>\n`;
    });
    const failures = run.unmet === undefined ? cases.filter(({ failure }) => failure !== "").length : 0;
    return `<testsuite name="${toText(run.title)}" tests="${cases.length}" failures="${failures}">\n${lines.join("")}</testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="sandbox exec">\n${suites.join("")}</testsuites>\n`;
}

/** The same as one page, without scripts or other files. */
export function toHtml(runs: readonly Run[], coverage: readonly string[]): string {
  const rows = runs.map((run) => {
    const findings = run.findings.map(
      ({ id, text }) => `<li><b>${id}</b> ${toText(text)}. <i>${toText(REASONS[id])}</i></li>`,
    );
    const mark = run.unmet ? "–" : hasFailed(run) ? "✗" : "✓";
    return `<tr><td>${mark}</td><td>${toText(run.title)}</td><td>${toText(explain(run))}<ul>${findings.join("")}</ul></td></tr>`;
  });
  const style =
    "body{font:16px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}td{vertical-align:top;padding:.3rem}";
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tests against the sandbox</title><style>:root{color-scheme:light dark}${style}</style>
<h1>Tests against the sandbox: ${runs.some(hasFailed) ? "something is wrong" : "passed"}</h1>
<table>
${rows.join("\n")}
</table>
<pre>${toText(coverage.join("\n"))}</pre>
</html>
`;
}
