import type { CheckFailure, Received, Sent } from "./check.ts";
import { describeSource, type Source } from "./sources.ts";

export interface Result {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly sources: readonly Source[];
  readonly outcome: "passed" | "failed" | "not run";
  readonly failure?: CheckFailure;
  /** Why it was not run. */
  readonly reason?: string;
  /** The options that would run it. */
  readonly missing: readonly string[];
  readonly seconds: number;
}

/** What came of a run. Holds no secrets. */
export interface Report {
  readonly url: string;
  readonly startedAt: Date;
  readonly seconds: number;
  readonly results: readonly Result[];
  readonly calls: number;
  readonly subscriptionsMade: number;
  readonly subscriptionsEnded: number;
}

export function countOutcomes({ results }: Report) {
  const count = (outcome: Result["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), notRun: count("not run") };
}

/** Longer bodies are cut: what is wrong with them stands in what was expected. */
const MAX_TEXT = 1_000;

/** A failure as lines for people: what was sent, what came, what was expected, and which clauses that breaks. */
export function describeFailure({ failure, sources }: Result): string[] {
  if (!failure) return [];
  const { sent, received, expected } = failure;
  return [
    ...(sent ? labelled("sent", describeSent(sent)) : []),
    ...(received
      ? labelled("received", typeof received === "string" ? [received] : describeReceived(received))
      : []),
    ...labelled("expected", [expected]),
    ...labelled("breaks", sources.map(describeSource)),
  ];
}

function labelled(label: string, texts: readonly string[]): string[] {
  const lines = texts.flatMap((text) => text.split("\n")).map(printable);
  return lines.map((line, index) => `${(index === 0 ? label : "").padEnd(9)} ${line}`);
}

export function describeSent({ method, path, headers, text }: Sent): string[] {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path}`, ...lines, ...(text === "" ? [] : [cut(text)])];
}

export function describeReceived({ status, headers, text, milliseconds }: Received): string[] {
  const told = ["content-type", "allow", "www-authenticate", "retry-after"].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : `${name}: ${value}`;
  });
  return [
    `${status} after ${milliseconds.toFixed(0)} ms`,
    ...told,
    ...(text === "" ? ["(no body)"] : [cut(text)]),
  ];
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length} characters)`;
}

/** What a service sends must not move the cursor of a terminal, nor break a file of XML. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, "�");
}
