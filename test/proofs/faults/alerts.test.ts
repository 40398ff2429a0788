import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { runCommand } from "../../helpers/admin.ts";
import { createPayment, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { startProduction } from "../../helpers/production.ts";
import { post } from "../../helpers/server.ts";
import { record, recordMissing, reportProgress } from "./setup/figures.ts";
import { drawDashboard, readPanels, readRules } from "./setup/monitoring.ts";
import { findProgram, startPrometheus } from "./setup/programs.ts";

type Fault = {
  name: string;
  /** In the order of the alphabet. */
  alerts: readonly string[];
  begin(): unknown;
  /** Again and again, until the alerts fire. */
  during?(): Promise<unknown>;
  end(): unknown;
};

/** More than a server has under way of one merchant. */
const CROWD = 400;
/** The rules' windows and limits are hours and minutes: here each second counts as much as twenty. */
const SHORTENED: readonly (readonly [RegExp, string])[] = [
  [/\[6h\]/g, "[40s]"],
  [/\[1h\]/g, "[20s]"],
  [/\[30m\]/g, "[15s]"],
  [/\[15m\]/g, "[10s]"],
  [/\[5m\]/g, "[6s]"],
  [/> 60\b/g, "> 3"],
  [/> 1800\b/g, "> 4"],
];

test("each alert of a fault fires, and is resolved after it", async () => {
  const program = findProgram("prometheus");
  if (!program) {
    recordMissing("alerts", "prometheus");
    return;
  }
  let skewMs = 0;
  await using production = await startProduction();
  const server = await production.start({
    env: { METRICS_PORT: "0" },
    callLimitMs: 2_000,
    ownNow: () => new Date(Date.now() + skewMs),
    issuerKeys: { refreshMs: 1_000, cooldownMs: 500 },
    webhooks: { timeoutMs: 500 },
  });
  const token = await production.issuer.token();
  const paymentId = await createPayment(server, { merchant: "merchant", amountCents: 9_999_999_00 });
  const refund = () => post(server.url, "/v1/refunds", refundOf(paymentId), { token });
  await using prometheus = await startPrometheus(program, server.metricsUrl ?? "", await shortenRules());
  const database = await openSessions(production.env.DATABASE_URL ?? "");

  /** As the runbook says of a receiver that is abandoned. */
  const disableSubscription = async () => {
    const listed = await runCommand(["subscriptions"], { env: production.env });
    const [subscriptionKey = listed.stderr] = /sub_[\w-]+/.exec(listed.stdout) ?? [];
    expect(
      await runCommand(["subscription", "disable", subscriptionKey], { env: production.env }),
    ).toMatchObject({ code: 0 });
  };

  const faults: Fault[] = [
    {
      name: "database stopped",
      alerts: ["DatabaseDown", "RefundErrorsFast"],
      begin: () => database.refuseConnections(true),
      end: () => database.refuseConnections(false),
    },
    {
      name: "receiver gone",
      alerts: ["ReceiversFail"],
      begin: () =>
        post(server.url, "/v1/webhook/subscribe", subscriptionTo("https://receiver.invalid/hooks"), {
          token,
        }),
      end: disableSubscription,
    },
    {
      name: "overload",
      alerts: ["CallsRefused"],
      begin: () => database.lock(paymentId),
      during: () => Promise.all(Array.from({ length: CROWD }, refund)),
      end: database.unlock,
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
  ];

  const statuses = new Set<number>();
  const load = startCalls(async () => statuses.add((await refund()).status));
  await vi.waitFor(
    async () => expect(await prometheus.query("sum(rate(http_requests_total[6s]))")).not.toEqual([]),
    {
      timeout: 60_000,
    },
  );
  for (const [index, { name, alerts, begin, during, end }] of faults.entries()) {
    expect([name, await prometheus.firing(alerts)]).toEqual([name, []]);
    const startedAt = performance.now();
    await begin();
    await vi.waitFor(
      async () => {
        await during?.();
        expect(await prometheus.firing(alerts)).toEqual(alerts);
      },
      { timeout: 120_000, interval: 500 },
    );
    const firedMs = performance.now() - startedAt;
    await end();
    const endedAt = performance.now();
    await vi.waitFor(async () => expect(await prometheus.firing(alerts)).toEqual([]), {
      timeout: 120_000,
      interval: 500,
    });
    const seconds = (ms: number) => Math.round(ms / 1000);
    const figures = {
      "seconds until it fired": seconds(firedMs),
      "seconds until it was resolved": seconds(performance.now() - endedAt),
    };
    reportProgress(name, index + 1, faults.length, figures);
    record(`${name}: ${alerts.join(", ")}`, figures);
  }
  await load.stop();
  expect(statuses).toEqual(new Set([201, 503]));
  await database.end();

  const queries = (await readPanels()).flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const empty: string[] = [];
  for (const query of queries) if ((await prometheus.query(query)).length === 0) empty.push(query);
  expect(empty).toEqual([]);
  await drawDashboard((query) => prometheus.range(shorten(query)));
});

const shorten = (query: string) =>
  SHORTENED.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), query);

/** The rules of the guide, with windows of seconds. */
async function shortenRules(): Promise<string> {
  const groups = await readRules();
  for (const rule of groups.flatMap(({ rules }) => rules)) {
    rule.expr = shorten(rule.expr);
    if (rule.for) rule.for = "2s";
  }
  return stringify({ groups });
}

/** Calls one after the other, ten a second at most, whatever the response. */
function startCalls(call: () => Promise<unknown>) {
  let stopped = false;
  const running = (async () => {
    while (!stopped) {
      await call().catch(() => {}); // a failed test has closed the server
      await setTimeout(100);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** What somebody with rights on the database can do to the service. */
async function openSessions(databaseUrl: string) {
  const [admin, session] = [
    new pg.Client(Object.assign(new URL(databaseUrl), { pathname: "/postgres" }).href),
    new pg.Client(databaseUrl),
  ];
  const name = new URL(databaseUrl).pathname.slice(1);
  await admin.connect();
  return {
    async refuseConnections(refused: boolean) {
      await admin.query(`alter database "${name}" allow_connections ${!refused}`);
      if (refused)
        await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
          name,
        ]);
    },
    async lock(paymentId: string) {
      await session.connect();
      await session.query("begin");
      await session.query("select from payments where payment_id = $1 for update", [paymentId]);
    },
    unlock: () => session.end(),
    end: () => admin.end(),
  };
}
