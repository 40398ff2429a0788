import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { headingsOf } from "../../../openapi/document/markdown-headings.ts";
import { runCommand } from "../../helpers/admin-command.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { exchange, head } from "../../helpers/network/raw-http.ts";
import { type Receiver, respondWith, startReceiver, until } from "../../helpers/receiver.ts";
import { post, startTestServer, type TestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";

/* What the monitoring of operators reads at METRICS_PORT, and whether the alerts that we ship fit it. */

/** A line of the text format: a name, labels, a number. */
const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)+\})? (\S+)$/;

async function scrape(server: TestServer): Promise<Map<string, number>> {
  const response = await fetch(server.metricsUrl ?? "");
  expect([response.status, response.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, name = "", labels = "", value = ""] = SAMPLE.exec(line) ?? [];
      expect([line, name]).not.toEqual([line, ""]);
      expect([line, Number.isNaN(Number(value)) && value !== "Nan"]).toEqual([line, false]);
      return [name + labels, Number(value)];
    }),
  );
}

const readText = (path: string) => readFile(path, "utf8");
/** Work in the background, which has run at least once. */
const RUNS = ["due_scan", "dispatching", "payouts", "retention"].map(
  (name) => `background_run_age_seconds{name="${name}"}`,
);

describe("the metrics of a production server", () => {
  const production = forSuite(() => startProduction());
  const server = forSuite(() => production.start({ env: { METRICS_PORT: "0" }, retentionMs: 100 }));
  let samples: Map<string, number>;
  const merchant = `merchant-${randomUUID()}`;
  let paymentId: string;

  beforeAll(async () => {
    paymentId = await createPayment(server, { merchant });
    const recent = await createPayment(server, { merchant, settledAt: new Date() });
    const failed = await createPayment(server, { merchant, status: "FAILED", settledAt: null });
    const token = await production.issuer.token({ merchant_id: merchant });
    const call = (body: unknown, path = "/v1/refunds") => post(server.url, path, body, { token });

    const refund = refundOf(paymentId);
    for (const body of [refund, refund, refundOf(recent), refundOf(failed), refundOf(failed), {}])
      await call(body);
    await call(subscriptionTo("https://receiver.invalid/hooks"), "/v1/webhook/subscribe");
    await call(refundOf(recent));
    await call(refundOf(paymentId)); // sent to a receiver whose name does not resolve
    await post(server.url, "/v1/refunds", {}, { token: "nobody" });
    await exchange(server.url, head(`GET /v1/${paymentId}/${merchant}`));
    await fetch(`${server.url}/readyz`);
    await runCommand(["check"], { env: { DATABASE_URL: production.url } });
    samples = await until(async () => {
      const read = await scrape(server);
      return read.get('webhook_attempts_total{outcome="retry"}') === 2 && RUNS.every((name) => read.has(name))
        ? read
        : undefined;
    });
  });

  test("count requests by route and status", () => {
    const requests = [...samples].filter(([name]) => name.startsWith("http_requests_total"));

    expect(Object.fromEntries(requests)).toEqual({
      'http_requests_total{route="/v1/refunds",status="201"}': 6,
      'http_requests_total{route="/v1/refunds",status="409"}': 1,
      'http_requests_total{route="/v1/refunds",status="400"}': 1,
      'http_requests_total{route="/v1/refunds",status="401"}': 1,
      'http_requests_total{route="/v1/refunds",status="500"}': 0,
      'http_requests_total{route="/v1/refunds",status="503"}': 0,
      'http_requests_total{route="/v1/webhook/subscribe",status="500"}': 0,
      'http_requests_total{route="/v1/webhook/subscribe",status="503"}': 0,
      'http_requests_total{route="/v1/webhook/subscribe",status="200"}': 1,
      'http_requests_total{route="/readyz",status="200"}': 1,
      'http_requests_total{route="unknown",status="404"}': 1,
    });
    expect(samples.get('http_request_duration_seconds_count{route="/v1/refunds"}')).toBe(9);
  });

  test("name no merchant, no record and no address: a label has few values", () => {
    const text = [...samples.keys()].join("\n");

    for (const id of [merchant, paymentId, "receiver.invalid", "rfd_", "msg_", "sub_"])
      expect(text).not.toContain(id);
    const byName = Map.groupBy(samples.keys(), (name) => name.replace(/\{.*/, ""));
    for (const [name, series] of byName) expect([name, series.length < 100]).toEqual([name, true]);
  });

  test("include every metric that the alerts use", async () => {
    const names = new Set(
      [...samples.keys()].map((name) => name.replace(/\{.*/, "").replace(/_(bucket|sum|count)$/, "")),
    );

    const rules = await readText("server/operators/deployment/alerts.yaml");
    const used = [...rules.matchAll(/\b([a-z]+(?:_[a-z0-9]+)+?)(?:_bucket|_count)?(?=[{[)]| >| ==|")/g)].map(
      ([, name]) => name,
    );

    expect(used.length).toBeGreaterThan(15);
    expect(used.filter((name) => name && !names.has(name))).toEqual([]);
  });

  test("have alerts that each name a section of the runbook", async () => {
    type Rule = { annotations?: { runbook: string } };
    const { groups } = parse(await readText("server/operators/deployment/alerts.yaml")) as {
      groups: { rules: Rule[] }[];
    };
    const named = groups.flatMap(({ rules }) =>
      rules.flatMap(({ annotations }) => annotations?.runbook ?? []),
    );

    const headings = headingsOf(await readText("docs/operators/runbook.md"));
    const sections = headings.map(({ anchor }) => `runbook.md#${anchor}`);
    expect(named.filter((section) => !sections.includes(section))).toEqual([]);
  });

  test("are not served where the service is, and nothing else is served where they are", async () => {
    const { status } = await fetch(`${server.url}/metrics`);
    const other = await fetch(new URL("/v1/refunds", server.metricsUrl));
    const posted = await fetch(server.metricsUrl ?? "", { method: "POST", body: "x" });

    expect([status, other.status, posted.status]).toEqual([404, 404, 404]);
  });
});

describe("the metrics of a server", () => {
  test("count deliveries that came through, and refunds that fell due", async () => {
    await using receiver: Receiver = await startReceiver();
    await using gone = await startReceiver(respondWith(410));
    await using server = await startTestServer({ engine: "embedded", env: { METRICS_PORT: "0" } });
    expect((await scrape(server)).get('refund_statuses_total{status="TERMINAL_FAILED"}')).toBe(0);
    for (const { url } of [receiver, gone])
      await post(server.url, "/v1/webhook/subscribe", subscriptionTo(url));

    await post(server.url, "/v1/refunds", refundOf("pay_recent"));
    await post(server.url, "/sandbox/clock/advance", { by: "P30D" });
    await receiver.first(2);

    const samples = await until(async () => {
      const read = await scrape(server);
      return read.get('webhook_attempts_total{outcome="delivered"}') === 2 ? read : undefined;
    });
    expect(samples.get('webhook_attempts_total{outcome="ended"}')).toBeGreaterThanOrEqual(1);
    expect(samples.get('refund_statuses_total{status="AUTHORIZED"}')).toBe(1);
    expect(samples.get('http_requests_total{route="/sandbox/clock/advance",status="200"}')).toBe(1);
    expect([...samples.keys()].some((name) => name.startsWith("database_pool"))).toBe(false);
  });

  test("say that the database is gone, and leave out what only it knows", async () => {
    await using production = await startProduction();
    const server = await production.start({ env: { METRICS_PORT: "0" } });

    await server.database.close();
    const samples = await scrape(server);

    expect(samples.get("database_up")).toBe(0);
    expect(
      [...samples.keys()].filter((name) =>
        /^(webhook_(deliveries|subscriptions)|\w+_oldest_due|check_)/.test(name),
      ),
    ).toEqual([]);
  });
});
