import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { runProgram } from "../../helpers/process.ts";
import { folderOfTest } from "../../helpers/suite.ts";
import { record } from "./setup/figures.ts";
import { RULES, readRules } from "./setup/monitoring.ts";
import { findOrSkip } from "./setup/programs.ts";

type Series = Record<string, string>;

/** For each alert, series of a value, the value with which it fires within half an hour, and one with which it doesn't. */
const CASES: readonly (readonly [
  alert: string,
  toSeries: (value: string) => Series,
  firing: string,
  quiet: string,
])[] = [
  ["RefundErrorsFast", errors, "0+2x40", "0+1x40"],
  ["RefundErrorsSlow", errors, "0+0.7x40", "0+0.5x40"],
  ["RefundLatencyFast", latency, "0+85x40", "0+87x40"],
  ["RefundLatencySlow", latency, "0+93x40", "0+95x40"],
  ["WebhooksLateFast", delay, "0+85x40", "0+87x40"],
  ["WebhooksLateSlow", delay, "0+93x40", "0+95x40"],
  ["RefundsDue", named("refund_oldest_due_seconds"), "61x40", "60x40"],
  ["WebhooksDue", named("webhook_oldest_due_seconds"), "61x40", "60x40"],
  ["ServerDown", named('up{job="refunds",instance="one"}'), "0x40", "1x40"],
  // One server that can't reach the database is not ready; the database is not down.
  ["DatabaseDown", (up) => ({ ...database("0", "0"), 'database_up{instance="two"}': up }), "0x40", "1x40"],
  ["DatabaseRefusesWrites", (writable) => database("1", writable), "0", "1"],
  ["CallsRefused", (refused) => ({ ...database("1", "1"), ...calls(refused) }), "0+2x40", "0+1x40"],
  [
    "ConnectionsExhausted",
    (state) => ({ [`database_pool_connections{state="${state}"}`]: "20x40" }),
    "waiting",
    "in_use",
  ],
  ["EventLoopDelayed", named('nodejs_eventloop_lag_p99_seconds{instance="one"}'), "0.3x40", "0.1x40"],
  ["RefundsSkipped", named("refunds_skipped_total"), "0+1x40", "7x40"],
  ["ReceiversFail", attempts, "0+6x40", "0+5x40"],
  ["WebhooksExhausted", named('webhook_attempts_total{outcome="exhausted"}'), "0+0.1x40", "3x40"],
  ["ClockOff", named('clock_skew_seconds{instance="one"}'), "6x40", "4x40"],
  // The keys of an idle server are old, because nobody has needed them.
  ["IssuerUnreachable", issuer, "0+1x40", "1x40"],
  ["RecordsDiffer", named("check_differences"), "1x40", "0x40"],
  ["CheckOverdue", named("check_age_seconds"), "172801x40", "172799x40"],
];

function named(name: string) {
  return (value: string): Series => ({ [name]: value });
}
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
function attempts(failed: string) {
  return {
    'webhook_attempts_total{outcome="retry"}': failed,
    'webhook_attempts_total{outcome="delivered"}': "0+5x40",
  };
}
function issuer(failures: string) {
  return { auth_keys_age_seconds: "1801x40", auth_keys_failed_fetches_total: failures };
}

test("promtool finds that each alert fires when it should, and only then", async (context) => {
  const program = findOrSkip(context, "rules of the alerts", "promtool", "prometheus");
  const rules = (await readRules()).flatMap(({ rules }) => rules).filter(({ alert }) => alert);
  expect(CASES.map(([alert]) => alert)).toEqual(rules.map(({ alert }) => alert));
  const instance = (text = "") => text.replace("{{ $labels.instance }}", "one");
  const tests = CASES.flatMap(([alertname, toSeries, ...values], index) => {
    const { labels = {}, annotations = {} } = rules[index] ?? {};
    const { summary, runbook } = annotations;
    const series = Object.keys(toSeries(values[0]))[0] ?? "";
    const own = /by \(instance\)|^up/.test(rules[index]?.expr ?? "") ? { instance: "one" } : {};
    const expected = {
      exp_labels: { ...labels, ...own, ...(series.startsWith("up") && { job: "refunds" }) },
      exp_annotations: { summary: instance(summary), runbook },
    };
    return values.map((value, run) => ({
      interval: "1m",
      input_series: Object.entries(toSeries(value)).map(([name, values]) => ({ series: name, values })),
      alert_rule_test: [{ eval_time: "30m", alertname, exp_alerts: run === 0 ? [expected] : [] }],
    }));
  });
  const folder = await folderOfTest();
  const file = join(folder, "tests.yaml");
  await writeFile(file, stringify({ rule_files: [resolve(RULES)], tests }));

  const { code, stdout, stderr } = await runProgram([program, "test", "rules", file]);

  expect([code, stderr + stdout]).toEqual([0, expect.stringContaining("SUCCESS")]);
  record("rules of the alerts", { alerts: CASES.length, cases: tests.length });
});
