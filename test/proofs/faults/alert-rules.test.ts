import { rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { runProgram } from "../../helpers/process.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { record, recordMissing } from "./setup/figures.ts";
import { RULES, readRules } from "./setup/monitoring.ts";
import { findProgram } from "./setup/programs.ts";

/** For each alert, series that make it fire within half an hour, and series that don't. */
const CASES: readonly (readonly [
  alert: string,
  firing: Record<string, string>,
  quiet: Record<string, string>,
])[] = [
  ["RefundErrorsFast", errors("0+2x40"), errors("0+1x40")],
  ["RefundErrorsSlow", errors("0+0.7x40"), errors("0+0.5x40")],
  ["RefundLatencyFast", latency("0+85x40"), latency("0+87x40")],
  ["RefundLatencySlow", latency("0+93x40"), latency("0+95x40")],
  ["WebhooksLateFast", delay("0+85x40"), delay("0+87x40")],
  ["WebhooksLateSlow", delay("0+93x40"), delay("0+95x40")],
  ["RefundsDue", { refund_oldest_due_seconds: "61x40" }, { refund_oldest_due_seconds: "60x40" }],
  ["WebhooksDue", { webhook_oldest_due_seconds: "61x40" }, { webhook_oldest_due_seconds: "60x40" }],
  [
    "ServerDown",
    { 'up{job="refunds",instance="one"}': "0x40" },
    { 'up{job="refunds",instance="one"}': "1x40" },
  ],
  // One server that can't reach the database is not ready; the database is not down.
  ["DatabaseDown", database("0", "0"), { ...database("0", "0"), 'database_up{instance="two"}': "1x40" }],
  ["DatabaseRefusesWrites", database("1", "0"), database("1", "1")],
  [
    "CallsRefused",
    { ...database("1", "1"), ...calls("0+2x40") },
    { ...database("1", "1"), ...calls("0+1x40") },
  ],
  [
    "ConnectionsExhausted",
    { 'database_pool_connections{state="waiting"}': "1x40" },
    { 'database_pool_connections{state="in_use"}': "20x40" },
  ],
  [
    "EventLoopDelayed",
    { 'nodejs_eventloop_lag_p99_seconds{instance="one"}': "0.3x40" },
    { 'nodejs_eventloop_lag_p99_seconds{instance="one"}': "0.1x40" },
  ],
  ["RefundsSkipped", { refunds_skipped_total: "0+1x40" }, { refunds_skipped_total: "7x40" }],
  ["ReceiversFail", attempts("0+6x40", "0+5x40"), attempts("0+5x40", "0+6x40")],
  [
    "WebhooksExhausted",
    { 'webhook_attempts_total{outcome="exhausted"}': "0+0.1x40" },
    { 'webhook_attempts_total{outcome="exhausted"}': "3x40" },
  ],
  [
    "ClockOff",
    { 'clock_skew_seconds{instance="one"}': "6x40" },
    { 'clock_skew_seconds{instance="one"}': "4x40" },
  ],
  // The keys of an idle server are old, because nobody has needed them.
  ["IssuerUnreachable", issuer("0+1x40"), issuer("1x40")],
  ["RecordsDiffer", { check_differences: "1x40" }, { check_differences: "0x40" }],
  ["CheckOverdue", { check_age_seconds: "172801x40" }, { check_age_seconds: "172799x40" }],
];

/** Of a thousand refund calls a minute, so many with a 5xx. */
function errors(failed: string) {
  const name = (status: number) => `http_requests_total{route="/v1/refunds",status="${status}"}`;
  return {
    [name(500)]: failed.replace(/\+([\d.]+)/, (_, value) => `+${Number(value) * 10}`),
    [name(201)]: "0+1000x40",
  };
}
/** Of a hundred refund calls a minute, so many that take a second at most. */
function latency(quick: string) {
  const name = (suffix: string, label = "") =>
    `http_request_duration_seconds_${suffix}{route="/v1/refunds"${label}}`;
  return { [name("bucket", ',le="1"')]: quick, [name("count")]: "0+100x40" };
}
function delay(quick: string) {
  const name = "webhook_first_attempt_delay_seconds";
  return { [`${name}_bucket{le="60"}`]: quick, [`${name}_count`]: "0+100x40" };
}
function database(up: string, writable: string) {
  return {
    'database_up{instance="one"}': `${up}x40`,
    'database_writable{instance="one"}': `${writable}x40`,
  };
}
/** Of a hundred calls a minute, so many that get 503. */
function calls(refused: string) {
  return { 'http_requests_total{status="503"}': refused, 'http_requests_total{status="201"}': "0+100x40" };
}
function attempts(failed: string, delivered: string) {
  return {
    'webhook_attempts_total{outcome="retry"}': failed,
    'webhook_attempts_total{outcome="delivered"}': delivered,
  };
}
function issuer(failures: string) {
  return { auth_keys_age_seconds: "1801x40", auth_keys_failed_fetches_total: failures };
}

test("promtool finds that each alert fires when it should, and only then", async () => {
  const program = findProgram("promtool");
  if (!program) {
    recordMissing("rules of the alerts", "prometheus");
    return;
  }
  const rules = (await readRules()).flatMap(({ rules }) => rules).filter(({ alert }) => alert);
  expect(CASES.map(([alert]) => alert)).toEqual(rules.map(({ alert }) => alert));
  const instance = (text = "") => text.replace("{{ $labels.instance }}", "one");
  const tests = CASES.flatMap(([alertname, firing, quiet], index) => {
    const { labels = {}, annotations = {} } = rules[index] ?? {};
    const { summary, runbook } = annotations;
    const series = Object.keys(firing)[0] ?? "";
    const own = /by \(instance\)|^up/.test(rules[index]?.expr ?? "") ? { instance: "one" } : {};
    const expected = {
      exp_labels: { ...labels, ...own, ...(series.startsWith("up") && { job: "refunds" }) },
      exp_annotations: { summary: instance(summary), runbook },
    };
    return [firing, quiet].map((input, run) => ({
      interval: "1m",
      input_series: Object.entries(input).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [{ eval_time: "30m", alertname, exp_alerts: run === 0 ? [expected] : [] }],
    }));
  });
  const folder = await makeTempDir();
  const file = join(folder, "tests.yaml");
  await writeFile(file, stringify({ rule_files: [resolve(RULES)], tests }));

  const { code, stdout, stderr } = await runProgram([program, "test", "rules", file]);
  await rm(folder, { recursive: true });

  expect([code, stderr + stdout]).toEqual([0, expect.stringContaining("SUCCESS")]);
  record("rules of the alerts", { alerts: CASES.length, cases: tests.length });
});
