import {
  countOutcomes,
  describeFailure,
  describeReceived,
  describeSent,
  type Report,
  type Result,
} from "./report.ts";

/** The report as JSON. */
export function toJson(report: Report): string {
  const { url, startedAt, seconds, calls, subscriptionsMade, subscriptionsEnded, results } = report;
  const head = { url, startedAt, seconds, calls, subscriptionsMade, subscriptionsEnded };
  return `${JSON.stringify({ ...head, ...countOutcomes(report), checks: results.map(toCheck) }, null, 2)}\n`;
}

function toCheck({ failure, missing, ...result }: Result) {
  if (!failure) return { ...result, ...(missing.length > 0 && { missing }) };
  const { expected, sent, received } = failure;
  return {
    ...result,
    expected,
    ...(sent && { sent: describeSent(sent) }),
    ...(received && { received: typeof received === "string" ? [received] : describeReceived(received) }),
  };
}

/** The report as JUnit XML, a suite for each group. */
export function toJunit(report: Report): string {
  const { failed, notRun } = countOutcomes(report);
  const { results, seconds, startedAt } = report;
  const totals = `tests="${results.length}" failures="${failed}" errors="0" skipped="${notRun}"`;
  const suites = [...Map.groupBy(results, ({ group }) => group)].map(([group, members]) =>
    toSuite(group, members, startedAt),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="conform" ${totals} time="${seconds.toFixed(3)}">`,
    ...suites,
    "</testsuites>\n",
  ].join("\n");
}

function toSuite(group: string, results: readonly Result[], startedAt: Date): string {
  const count = (outcome: Result["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  const time = results.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3);
  const totals = `tests="${results.length}" failures="${count("failed")}" errors="0" skipped="${count("not run")}"`;
  return [
    `  <testsuite name="${toXml(group)}" ${totals} time="${time}" timestamp="${startedAt.toISOString()}">`,
    ...results.map(toCase),
    "  </testsuite>",
  ].join("\n");
}

function toCase(result: Result): string {
  const { id, name, seconds, outcome, reason = "", failure } = result;
  const [classname] = id.split(".");
  const head = `    <testcase classname="conform.${toXml(classname ?? "")}" name="${toXml(`${id}: ${name}`)}" time="${seconds.toFixed(3)}"`;
  if (outcome === "passed") return `${head}/>`;
  const content = failure
    ? `<failure message="${toXml(`expected ${failure.expected}`)}">${toXml(describeFailure(result).join("\n"))}</failure>`
    : `<skipped message="${toXml(reason)}"/>`;
  return `${head}>${content}</testcase>`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML has no place at all for most control characters and for lone surrogates. */
function toXml(text: string): string {
  return text
    .replaceAll(/(?![\t\n])[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, "�")
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
