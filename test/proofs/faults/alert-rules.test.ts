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

/** For each alert, in one row or more: series of a value, the value with which it fires within half an hour, and one with which it doesn't. */
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
  // One delivery, of a server that begins to count at 0.
  ["WebhooksExhausted", named('webhook_attempts_total{outcome="exhausted"}'), "0x10 1x30", "3x40"],
  ["ClockOff", named('clock_skew_seconds{instance="one"}'), "6x40", "4x40"],
  ["IssuerUnreachable", issuer, "0+1x40", "1x40"],
  // This server was started while the issuer was away, or its keys are no longer trusted.
  ["IssuerUnreachable", named('auth_keys_failed_fetches_total{instance="one"}'), "0+1x40", "1x40"],
  // Another server has keys, and missed one fetch.
  ["IssuerUnreachable", (at) => ({ ...issuer("0x40"), ...missedFetch(at) }), "one", "two"],
  // A server that missed one is still there without keys, or was replaced.
  ["IssuerUnreachable", (then) => ({ ...issuer("0x40"), ...replaced(then) }), "1x20", "stale"],
  ["RecordsDiffer", named("check_differences"), "1x40", "0x40"],
  ["CheckOverdue", named("check_age_seconds"), "172801x40", "172799x40"],
  // Where it has never run; while the database is away, nobody can know.
  ["CheckOverdue", (up) => database(up, "0"), "1", "0"],
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
/** Of a hundred calls a minute, so many that get 503; and of as many probes, half. */
function calls(refused: string) {
  const name = (route: string, status: number) => `http_requests_total{route="${route}",status="${status}"}`;
  return {
    [name("/v1/refunds", 503)]: refused,
    [name("/v1/refunds", 201)]: "0+100x40",
    [name("/readyz", 503)]: "0+50x40",
    [name("/readyz", 200)]: "0+50x40",
  };
}
function attempts(failed: string) {
  return {
    'webhook_attempts_total{outcome="retry"}': failed,
    'webhook_attempts_total{outcome="delivered"}': "0+5x40",
  };
}
function issuer(failures: string) {
  return {
    'auth_keys_age_seconds{instance="one"}': "1801x40",
    'auth_keys_failed_fetches_total{instance="one"}': failures,
  };
}
function missedFetch(instance: string) {
  return {
    'auth_keys_age_seconds{instance="two"}': "60x40",
    [`auth_keys_failed_fetches_total{instance="${instance}"}`]: "0x20 1x20",
  };
}

function replaced(then: string) {
  return {
    'auth_keys_age_seconds{instance="old"}': "60x22 stale",
    'auth_keys_failed_fetches_total{instance="old"}': `0x20 1x2 ${then}`,
  };
}

test("promtool finds that each alert fires when it should, and only then", async (context) => {
  const program = findOrSkip(context, "rules of the alerts", "promtool", "prometheus");
  const rules = (await readRules()).flatMap(({ rules }) => rules).filter(({ alert }) => alert);
  expect([...new Set(CASES.map(([alert]) => alert))]).toEqual(rules.map(({ alert }) => alert));
  const instance = (text = "") => text.replace("{{ $labels.instance }}", "one");
  const tests = CASES.flatMap(([alertname, toSeries, ...values]) => {
    const { expr = "", labels = {}, annotations = {} } = rules.find(({ alert }) => alert === alertname) ?? {};
    const { summary, runbook } = annotations;
    const series = Object.keys(toSeries(values[0]))[0] ?? "";
    const own = /by \(instance\)|^up/.test(expr) ? { instance: "one" } : {};
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
  record("rules of the alerts", { alerts: rules.length, cases: tests.length });
});
