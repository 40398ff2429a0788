import { readDocument } from "../../contract/contract-document.ts";
import { createCoverage } from "../features/contract-coverage.ts";
import type { Result } from "../sandbox-client.ts";
import { type Finding, isAccepted, REASONS, type Seen } from "./judge-run.ts";
import type { Case, Suites } from "./junit-and-html.ts";

/* The report of the `exec` command: a table of its runs, the coverage of the contract, and test cases for JUnit. */

/** A run of the tests: the plain one first, then those of bad days. */
export type Run = {
  readonly title: string;
  readonly seconds: number;
  /** Null when it was stopped. */
  readonly code: number | null;
  readonly findings: readonly Finding[];
  /** The first line of the tests' output that looks like a failure. */
  readonly failure: string;
  /** Why this run shows nothing. */
  readonly unmet?: string | undefined;
};

export const hasFailed = ({ code, findings, unmet }: Run) =>
  unmet === undefined && (code !== 0 || findings.length > 0);

/** The first thing that went wrong in a run, in plain words. */
export function explain(run: Run): string {
  return run.unmet ?? ([run.findings[0]?.text, explainTests(run)].filter(Boolean).join("; ") || "passed");
}

function explainTests({ code, failure }: Run): string {
  if (code === 0) return "";
  const ended = code === null ? "the tests did not end in time" : `the tests failed (exit code ${code})`;
  return failure === "" ? ended : `${ended}: ${failure}`;
}

/** What all merchants together have met. */
export function readCoverage({ calls, attempts }: Seen): Result<"getCoverage"> {
  const coverage = createCoverage(readDocument("openapi"));
  for (const call of calls) coverage.recordCall("", call);
  for (const attempt of attempts.filter(isAccepted)) coverage.recordEvent("", attempt.payload);
  return coverage.read("");
}

/** @throws Error for a name that the contract doesn't have, because a misspelt one would require nothing */
export function findMissing(
  { percent, items }: Result<"getCoverage">,
  required: readonly string[],
): Finding[] {
  const finding = (text: string): Finding => ({ id: "required", text });
  return required.flatMap((name) => {
    const least = /^(\d{1,3})%$/.exec(name)?.[1];
    if (least !== undefined)
      return percent < Number(least) ? finding(`${percent} % of the contract were met`) : [];
    const found = items.filter(
      (item) => item.kind === name || item.name === name || item.name.endsWith(` ${name}`),
    );
    if (found.length === 0)
      throw new Error(
        `The contract has no element ${name}. It has: ${items.map((item) => item.name).join(", ")}.`,
      );
    return found.filter(({ count }) => count === 0).map((item) => finding(`no test met ${item.name}`));
  });
}

/** Coverage in at most ten lines. */
export function describeCoverage({ percent, met, total, kinds, items }: Result<"getCoverage">): string[] {
  const missing = items.filter(({ count }) => count === 0).map(({ name }) => name);
  const more = missing.length > 12 ? `, and ${missing.length - 12} more` : "";
  return [
    `Of the contract your tests met ${met} of ${total} elements (${percent} %):`,
    ...kinds.map(
      ({ kind, met, total }) => `  ${kind.toLowerCase().replace("_", " ").padEnd(12)}${met} of ${total}`,
    ),
    ...(missing.length > 0 ? [`  not met: ${missing.slice(0, 12).join(", ")}${more}`] : []),
  ];
}

/** A suite for each run: a case for the tests themselves, and one for each finding. */
export function toSuites(runs: readonly Run[]): Suites {
  return new Map(runs.map((run) => [run.title, toCases(run)]));
}

function toCases(run: Run): Case[] {
  const { seconds, unmet, findings } = run;
  const tests = { id: "tests", name: "the tests pass", seconds };
  if (unmet !== undefined) return [{ ...tests, outcome: "not run", details: [unmet] }];
  const outcome = (failure: string) =>
    failure === "" ? { outcome: "passed" as const } : { outcome: "failed" as const, failure };
  const found = findings.map(({ id, text }) => ({ id, name: REASONS[id], seconds, ...outcome(text) }));
  return [{ ...tests, ...outcome(explainTests(run)) }, ...found];
}
