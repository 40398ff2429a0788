import { setImmediate, setTimeout } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { runCommand } from "../../helpers/admin.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, refundOf, type Subscription, subscriptionTo } from "../../helpers/factories.ts";
import { startNameserver } from "../../helpers/network/nameserver.ts";
import { begin, query } from "../../helpers/postgres.ts";
import { post } from "../../helpers/server.ts";
import { createRefund } from "../../helpers/store-factories.ts";
import { record, reportProgress } from "./setup/figures.ts";
import { readRules, shortenRules } from "./setup/monitoring.ts";
import { findOrSkip, startPrometheus } from "./setup/programs.ts";

type Fault = {
  name: string;
  alerts: readonly string[];
  begin(): unknown;
  /** Again and again, until the alerts fire. */
  during?(): unknown;
  end(): unknown;
};

/** More than a server has under way of one merchant. */
const CROWD = 300;
const WAIT = { timeout: 240_000, interval: 500 };

test("each alert of a fault fires, and is resolved after it", async (context) => {
  const program = findOrSkip(context, "alerts", "prometheus");
  let skewMs = 0;
  await using production = await startProduction();
  await using nameserver = await startNameserver((name) =>
    name === "silent.invalid" ? "silent" : undefined,
  );
  const start = (metricsPort: string) =>
    production.start({
      env: { METRICS_PORT: metricsPort },
      callLimitMs: 2_000,
      ownNow: () => new Date(Date.now() + skewMs),
      issuerKeys: { refreshMs: 1_000, cooldownMs: 500 },
      webhooks: { timeoutMs: 2_000, nameservers: [nameserver.address] },
    });
  let server = await start("0");
  const metricsUrl = server.metricsUrl ?? "";
  // All faults together take longer than the five minutes of other tests' tokens.
  const exp = Math.floor(Date.now() / 1000) + 3_600;
  const token = await production.issuer.token({ exp });
  /** Of a merchant without events. */
  const other = await production.issuer.token({ exp, merchant_id: "other" });
  const paymentId = await createPayment(server, { merchant: "merchant", amountCents: 9_999_999_00 });
  const refund = () => post(server.url, "/v1/refunds", refundOf(paymentId), { token });
  const subscribe = async (host: string, by = token) => {
    const body = subscriptionTo(`https://${host}.invalid/hooks`);
    return (await post<Subscription>(server.url, "/v1/webhook/subscribe", body, { token: by })).body
      .subscriptionKey;
  };
  const prometheus = await startPrometheus(program, metricsUrl, await shortenRules());
  const databaseUrl = production.url;
  const name = new URL(databaseUrl).pathname.slice(1);
  const elsewhere = Object.assign(new URL(databaseUrl), { pathname: "/postgres" }).href;
  /** Changes the database for all sessions, those of the server included. */
  const alter = async (what: string) => {
    await query(elsewhere, `alter database "${name}" ${what}`);
    const end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
    await query(elsewhere, end, [name]);
  };
  let holder: Awaited<ReturnType<typeof begin>>;
  const lock = async (statement: string) => {
    holder = await begin(databaseUrl);
    await holder.client.query(statement);
  };
  const lockPayment = (id: string) => lock(`select from payments where payment_id = '${id}' for update`);
  const unlock = () => holder.client.end();
  const admin = async (...args: string[]) => {
    const { code } = await runCommand(args, { env: production.env });
    // A check that has found something ends with 1.
    if (args[0] !== "check") expect(code).toBe(0);
  };

  let subscriptionKey = "";
  let waiting: ReturnType<typeof startCalls>;
  const faults: Fault[] = [
    {
      name: "database stopped",
      alerts: ["DatabaseDown", "RefundErrorsFast", "RefundErrorsSlow"],
      begin: () => alter("allow_connections false"),
      end: () => alter("allow_connections true"),
    },
    {
      name: "database takes no writes",
      alerts: ["DatabaseRefusesWrites"],
      begin: () => alter("set default_transaction_read_only = on"),
      end: () => alter("reset default_transaction_read_only"),
    },
    {
      name: "payment locked by somebody",
      alerts: ["RefundLatencyFast", "RefundLatencySlow"],
      begin: () => lockPayment(paymentId),
      end: unlock,
    },
    {
      name: "overload",
      alerts: ["CallsRefused"],
      begin: () => lockPayment(paymentId),
      during: () => Promise.all(Array.from({ length: CROWD }, refund)),
      end: unlock,
    },
    {
      name: "table locked by somebody",
      alerts: ["ConnectionsExhausted"],
      async begin() {
        // Reads go on.
        await lock("lock table subscriptions in share mode");
        waiting = startCalls(() => Promise.all(Array.from({ length: 50 }, () => subscribe("gone", other))));
      },
      async end() {
        await unlock();
        await waiting.stop();
      },
    },
    {
      name: "processor busy",
      alerts: ["EventLoopDelayed"],
      begin: () => {},
      async during() {
        for (let times = 0; times < 5; times += 1) {
          const until = performance.now() + 400;
          while (performance.now() < until);
          await setImmediate();
        }
      },
      end: () => {},
    },
    // Before those that write records which only tests write.
    {
      name: "record changed past all constraints",
      alerts: ["RecordsDiffer"],
      async begin() {
        await change("refunded_cents = 1");
        await admin("check");
      },
      async end() {
        await change("refunded_cents = 0");
        await admin("check");
      },
    },
    { name: "nobody checks", alerts: ["CheckOverdue"], begin: () => {}, end: () => admin("check") },
    {
      name: "refunds held and forgotten",
      alerts: ["RefundsDue"],
      async begin() {
        await admin("hold", "--merchant", "held", "--reason", "a test");
        await createDueRefund("held");
      },
      end: () => admin("release", "--merchant", "held"),
    },
    {
      name: "payment of a due refund locked by somebody",
      alerts: ["RefundsSkipped"],
      async begin() {
        await admin("hold", "--merchant", "locked", "--reason", "a test");
        const payment = await createDueRefund("locked");
        await lockPayment(payment);
        await admin("release", "--merchant", "locked");
      },
      end: unlock,
    },
    {
      name: "receiver silent",
      alerts: ["ReceiversFail", "WebhooksDue", "WebhooksLateFast", "WebhooksLateSlow"],
      async begin() {
        subscriptionKey = await subscribe("silent");
      },
      // More than the few attempts at a time that the receiver gets, so that others wait for them.
      during: () => Promise.all(Array.from({ length: 20 }, refund)),
      // As the runbook says of a receiver that is abandoned.
      end: () => admin("subscription", "disable", subscriptionKey),
    },
    {
      name: "receiver gone for three days",
      alerts: ["WebhooksExhausted"],
      async begin() {
        subscriptionKey = await subscribe("gone");
      },
      // Three days have passed when nine attempts have failed.
      during: () =>
        query(databaseUrl, "update deliveries set attempts = 9, due_at = now() where state = 'PENDING'"),
      end: () => admin("subscription", "disable", subscriptionKey),
    },
    {
      name: "clock off",
      alerts: ["ClockOff"],
      begin: () => {
        skewMs = 20_000;
      },
      end: () => {
        skewMs = 0;
      },
    },
    {
      name: "issuer away",
      alerts: ["IssuerUnreachable"],
      begin: () => production.issuer.mood("hangs up"),
      end: () => production.issuer.mood("well"),
    },
    {
      name: "server killed",
      alerts: ["ServerDown"],
      begin: () => server.close(),
      async end() {
        server = await start(new URL(metricsUrl).port);
      },
    },
  ];
  const rules = (await readRules()).flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []));
  expect(faults.flatMap(({ alerts }) => alerts).toSorted()).toEqual(rules.toSorted());
  /** Nobody has a refund of this payment. */
  const changed = await createPayment(server, { merchant: "other" });
  const change = (what: string) =>
    query(
      databaseUrl,
      `set session_replication_role = replica; update payments set ${what} where payment_id = '${changed}'`,
    );
  /** A refund that was pending, and by now is due; returns its original payment. */
  async function createDueRefund(merchant: string): Promise<string> {
    const settledAt = new Date(Date.now() - 30 * 86_400_000);
    const original = await createPayment(server, { merchant, settledAt });
    await createRefund(server.database.db, { merchant, paymentId: original }, { now: settledAt });
    return original;
  }

  const statuses = new Set<number>();
  const calls = startCalls(async () => statuses.add((await refund()).status));
  const served = async () =>
    expect(await prometheus.query("sum(rate(http_requests_total[6s]))")).not.toEqual([]);
  await vi.waitFor(served, WAIT);
  for (const [index, { name, alerts, begin, during, end }] of faults.entries()) {
    const quiet = async () => expect([name, await prometheus.firing(alerts)]).toEqual([name, []]);
    // One fault may fire alerts of another, too.
    await vi.waitFor(quiet, WAIT);
    const figures: Record<string, number> = {};
    const secondsSince = (startedAt: number) => Math.round((performance.now() - startedAt) / 1000);
    const startedAt = performance.now();
    await begin();
    await vi.waitFor(async () => {
      await during?.();
      for (const alert of await prometheus.firing(alerts))
        figures[`seconds until ${alert} fired`] ??= secondsSince(startedAt);
      expect([name, Object.keys(figures)]).toEqual([
        name,
        expect.objectContaining({ length: alerts.length }),
      ]);
    }, WAIT);
    await end();
    const endedAt = performance.now();
    await vi.waitFor(quiet, WAIT);
    figures["seconds until the last was resolved"] = secondsSince(endedAt);
    reportProgress(name, index + 1, faults.length, figures);
    record(name, figures);
  }
  await calls.stop();
  expect(statuses).toEqual(new Set([201, 503]));
});

/** Calls one after the other, ten a second at most, whatever the response. */
function startCalls(call: () => Promise<unknown>) {
  let stopped = false;
  const repeat = async () => {
    while (!stopped) {
      await call().catch(() => {}); // a failed test has closed the server
      await setTimeout(100);
    }
  };
  const calls = repeat();
  return {
    stop() {
      stopped = true;
      return calls;
    },
  };
}
