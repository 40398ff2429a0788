/** Writes the results of a kit as JSON, JUnit's XML and HTML. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Case,
  countOutcomes,
  printable,
  type Suites,
  toPage,
  toJunit as writeJunit,
} from "../../server/sandbox/exec/junit-and-html.ts";
import type { CheckFailure, Received, Sent } from "./exchange.ts";
import { describeSource, type Source } from "./sources.ts";

export type Result = {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly sources: readonly Source[];
  /** The section of a guide that says how to correct a failure. */
  readonly guide?: string;
  readonly outcome: "passed" | "failed" | "not run";
  readonly failure?: CheckFailure;
  /** Public reports of the same defect. */
  readonly cases?: readonly string[];
  /** Why it was not run. */
  readonly reason?: string;
  /** The options that would make it run. */
  readonly missing: readonly string[];
  readonly seconds: number;
};

/** The result of a run, without secrets. */
export type Report = {
  readonly url: string;
  readonly startedAt: Date;
  readonly seconds: number;
  readonly results: readonly Result[];
  /** What passed only just. */
  readonly warnings?: readonly string[];
};

/** Longer bodies are truncated; the expectation says what is wrong with them. */
const MAX_TEXT = 1_000;

/** A failure as lines for people: the request, the response, the expectation, and the clauses that it violates. */
export function describeFailure({ failure, sources, guide, cases = [] }: Result): string[] {
  if (!failure) return [];
  const { sent, received, expected } = failure;
  return [
    ...(sent ? labelled("sent", describeSent(sent)) : []),
    ...(received ? labelled("received", describeReceived(received)) : []),
    ...labelled("expected", [expected]),
    ...labelled("breaks", sources.map(describeSource)),
    ...(cases.length > 0 ? labelled("case", [cases.join(", ")]) : []),
    ...(guide ? labelled("see", [toAddress(guide)]) : []),
  ];
}

/** Where the reader has the section of a guide: the package contains the guides, too. */
function toAddress(guide: string): string {
  return `${relative(process.cwd(), fileURLToPath(new URL("../../docs/guides/", import.meta.url)))}/${guide}`;
}

function labelled(label: string, texts: readonly string[]): string[] {
  const lines = texts.flatMap((text) => text.split("\n")).map(printable);
  return lines.map((line, index) => `${(index === 0 ? label : "").padEnd(9)} ${line}`);
}

function describeSent({ method, path, headers, text }: Sent): string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path}`, ...lines, ...(text === "" ? [] : [cut(text)])];
}

function describeReceived(received: Received | string): string[] {
  if (typeof received === "string") return [received];
  const { status, headers, text, milliseconds } = received;
  const lines = ["content-type", "allow", "www-authenticate", "retry-after"].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : `${name}: ${value}`;
  });
  return [
    `${status} after ${milliseconds.toFixed(0)} ms`,
    ...lines,
    ...(text === "" ? ["(no body)"] : [cut(text)]),
  ];
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`;
}

/** The report as JSON: the members of the run, then the checks. */
export function toJson(report: Report): string {
  const { results, ...run } = report;
  return `${JSON.stringify({ ...run, ...countOutcomes(results), checks: results.map(toCheck) }, null, 2)}\n`;
}

function toCheck({ failure, missing, ...result }: Result) {
  if (!failure) return { ...result, ...(missing.length > 0 && { missing }) };
  const { expected, sent, received } = failure;
  return {
    ...result,
    expected,
    ...(sent && { sent: describeSent(sent) }),
    ...(received && { received: describeReceived(received) }),
  };
}

/** The report as JUnit XML, a suite for each group; `name` is that of the command. */
export function toJunit(report: Report, name: string): string {
  return writeJunit(toSuites(report), name);
}

/** The report as one page. */
export function toHtml(report: Report, title: string): string {
  const at = report.startedAt.toISOString().slice(0, 16).replace("T", " ");
  return toPage(toSuites(report), title, [`${report.url}, ${at} UTC, in ${report.seconds.toFixed(1)} s`]);
}

function toSuites({ results }: Report): Suites {
  const groups = [...Map.groupBy(results, ({ group }) => group)];
  return new Map(groups.map(([group, members]) => [group, members.map(toCase)]));
}

function toCase(result: Result): Case {
  const { id, name, outcome, seconds, sources, failure, reason } = result;
  const source = sources.map((source) => describeSource({ ...source, text: "" })).join("; ");
  return failure
    ? {
        id,
        name,
        outcome,
        seconds,
        source,
        details: describeFailure(result),
        failure: `expected ${failure.expected}`,
      }
    : { id, name, outcome, seconds, source, details: reason === undefined ? [] : [reason] };
}
