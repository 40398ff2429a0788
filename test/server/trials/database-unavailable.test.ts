import { randomBytes } from "node:crypto";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import {
  countRows,
  createMerchant,
  createPayment,
  type Duplicate,
  dollars,
  type Problem,
  refundOf,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { startSilentProxy } from "../../helpers/network/silent-database-proxy.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { createSubscriber, startReceiver, until } from "../../helpers/receiver.ts";
import { post, startTestServer, type TestResponse, type TestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

/** What is to be done in time has seconds, for a busy machine; a call has more than the limits of the store together. */
const HASTY = {
  storeLimits: { connectMs: 2_000, statementMs: 2_000, backgroundMs: 2_000 },
  callLimitMs: 20_000,
};
const UNHURRIED = { storeLimits: { statementMs: 300_000 }, callLimitMs: 300_000 };
/** Generous for the same reason; without limits the calls would never end. */
const LATEST_MS = 60_000;
/** How many calls may wait for one payment, for the payments of one merchant, and in all. */
const [OF_PAYMENT, OF_MERCHANT, IN_ALL] = [128, 192, 256];
/** How many calls a server takes at a time of one merchant, and of all others meanwhile; and how many more are sent. */
const [AT_A_TIME, EXCESS] = [256, 100];
/** How many connections calls may hold while they wait for locks. */
const MOST_CONNECTIONS = 10;

const issue = (server: TestServer, request: object, token = "sandbox_acme") =>
  post<Duplicate & Problem>(server.url, "/v1/refunds", request, { token });

/** A new merchant with so many payments. */
async function createCaller(server: TestServer, count: number) {
  const { merchant, token } = await createMerchant(server);
  const created = Array.from({ length: count }, () => createPayment(server, { merchant }));
  return { token, paymentIds: await Promise.all(created) };
}

type Caller = Awaited<ReturnType<typeof createCaller>>;

/** Makes so many calls of a merchant for each of its payments, and collects the statuses as they come. */
function flood(server: TestServer, { token, paymentIds }: Caller, each: number) {
  const statuses: number[] = [];
  const calls = paymentIds.flatMap((paymentId) =>
    Array.from({ length: each }, async () => {
      const { status } = await issue(server, refundOf(paymentId, { amount: dollars(0.01) }), token);
      statuses.push(status);
    }),
  );
  const untilStatuses = (count: number) => until(() => statuses.length === count);
  return { statuses, untilStatuses, ended: Promise.all(calls) };
}

describe("a server whose PostgreSQL", () => {
  const deployment = forEachTest(() => createDeployment());

  const readiness = async ({ url }: TestServer) => (await fetch(`${url}/readyz`)).status;
  const untilReadiness = (server: TestServer, status: number) =>
    until(async () => (await readiness(server)) === status);

  /** Expects every call to get 503 with Retry-After in time. */
  async function expectUnavailable(calls: readonly Promise<TestResponse<Problem>>[]) {
    const startedAt = performance.now();
    for (const { status, headers, body } of await Promise.all(calls)) {
      expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
      expect(body.errorDetails.errorCode).toBe("UNAVAILABLE");
    }
    expect(performance.now() - startedAt).toBeLessThan(LATEST_MS);
  }

  async function startBehindProxy() {
    const proxy = await startSilentProxy(deployment.url);
    const server = await deployment.start({ ...HASTY, env: { DATABASE_URL: proxy.url } });
    const close = () => server.close().then(() => proxy[Symbol.asyncDispose]());
    return { proxy, server, [Symbol.asyncDispose]: close };
  }

  test("does not respond gives callers 503 in time, is not ready, and recovers when it responds", async () => {
    await using behind = await startBehindProxy();
    const { proxy, server } = behind;
    const subscribe = () =>
      post<Problem>(server.url, "/v1/webhook/subscribe", subscriptionTo("http://localhost:9/"));
    const request = refundOf("pay_settled");
    expect((await issue(server, refundOf("pay_settled"))).status).toBe(201);
    const before = await countRows(server);

    proxy.silence();
    // More than there are connections: some wait for a response, some for a connection.
    const calls = Array.from({ length: 30 }, () => issue(server, refundOf("pay_settled")));
    await Promise.all([
      expectUnavailable([...calls, issue(server, request), subscribe()]),
      untilReadiness(server, 503),
    ]);
    proxy.speak();
    await untilReadiness(server, 200);

    expect(await countRows(server)).toEqual(before);
    expect((await issue(server, request)).status).toBe(201);
    expect((await subscribe()).status).toBe(200);
  });

  test("falls silent when it has stored a refund: a repeat names it", async () => {
    await using behind = await startBehindProxy();
    const { proxy, server } = behind;
    const { paymentId, ...request } = refundOf("pay_settled");
    const before = await countRows(server);

    proxy.silenceAfter(request.requestKey);
    await expectUnavailable([issue(server, { paymentId, ...request })]);
    proxy.speak();
    const { status, body } = await issue(server, { paymentId, ...request });

    const existing = expect.objectContaining({ originalPaymentId: paymentId, amount: request.amount });
    expect([status, body.existing]).toEqual([409, existing]);
    const { payments, events } = await countRows(server);
    expect([payments - before.payments, events - before.events]).toEqual([1, 1]);
  });

  /** Holds the rows of payments until the connection ends. */
  async function lock(paymentIds: readonly string[]) {
    const holder = new pg.Client(deployment.url);
    await holder.connect();
    await holder.query("begin");
    await holder.query("select from payments where payment_id = any($1) for update", [paymentIds]);
    /** How many connections have waited for a lock for longer than refunds that share a statement do. */
    const waiting = async () => {
      await holder.query("select pg_stat_clear_snapshot()"); // a transaction sees the view as it was first read
      const { rowCount } = await holder.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query_start < clock_timestamp() - interval '300 ms'`,
      );
      return rowCount ?? 0;
    };
    const untilWaiting = (least: number) => until(async () => (await waiting()) >= least);
    return { waiting, untilWaiting, end: () => holder.end() };
  }

  test("has payments of many merchants locked still serves the other merchants", async () => {
    const server = await deployment.start(UNHURRIED);
    // Of several merchants, because those of one hold few connections while they wait.
    const callers = await Promise.all(Array.from({ length: 6 }, () => createCaller(server, 4)));
    const holder = await lock(callers.flatMap(({ paymentIds }) => paymentIds));
    const floods = callers.map((caller) => flood(server, caller, 1));
    await holder.untilWaiting(MOST_CONNECTIONS);

    const beside = await issue(server, refundOf(await createPayment(server)));
    const waiting = await holder.waiting();
    await holder.end();

    expect({ beside: beside.status, waiting }).toEqual({ beside: 201, waiting: MOST_CONNECTIONS });
    await Promise.all(floods.map(({ ended }) => ended));
    expect(floods.flatMap(({ statuses }) => statuses)).toEqual(Array(24).fill(201));
  });

  test("has a payment locked responds in time with 503, stays ready, and makes none of these refunds later", async () => {
    const server = await deployment.start(HASTY);
    const locked = await createPayment(server);
    const before = await countRows(server);
    const holder = await lock([locked]);

    const expected = expectUnavailable([issue(server, refundOf(locked)), issue(server, refundOf(locked))]);
    await holder.untilWaiting(1);
    const ready = await readiness(server);
    await expected;
    await holder.end();

    expect(ready).toBe(200);
    expect((await issue(server, refundOf(locked))).status).toBe(201);
    const { payments, events } = await countRows(server);
    expect([payments - before.payments, events - before.events]).toEqual([1, 1]);
  });

  test("has a payment locked serves another merchant meanwhile, and then the calls that could wait for the payment", async () => {
    const server = await deployment.start(UNHURRIED);
    const [caller, otherCaller] = [await createCaller(server, 1), await createCaller(server, 1)];
    const holder = await lock(caller.paymentIds);
    const flooded = flood(server, caller, 150);
    await flooded.untilStatuses(150 - OF_PAYMENT);

    const beside = flood(server, otherCaller, 40);
    await beside.ended;
    await holder.untilWaiting(1);
    const [waiting, refused] = [await holder.waiting(), flooded.statuses.splice(0)];
    await holder.end();
    await flooded.ended;

    expect(beside.statuses).toEqual(Array(40).fill(201));
    expect({ waiting, refused }).toEqual({ waiting: 1, refused: Array(150 - OF_PAYMENT).fill(503) });
    expect(flooded.statuses).toEqual(Array(OF_PAYMENT).fill(201));
  });

  test("has payments of two merchants locked lets 192 calls of one wait, 256 of both, and refuses the others", async () => {
    const server = await deployment.start(UNHURRIED);
    const callers = [await createCaller(server, 3), await createCaller(server, 2)] as const;
    const holder = await lock(callers.flatMap(({ paymentIds }) => paymentIds));
    const firstFlood = flood(server, callers[0], 100);
    await firstFlood.untilStatuses(300 - OF_MERCHANT);
    const secondFlood = flood(server, callers[1], 100);
    await secondFlood.untilStatuses(200 - (IN_ALL - OF_MERCHANT));

    const refused = [...firstFlood.statuses.splice(0), ...secondFlood.statuses.splice(0)];
    await holder.end();
    await Promise.all([firstFlood.ended, secondFlood.ended]);

    expect(new Set(refused)).toEqual(new Set([503]));
    expect(firstFlood.statuses).toEqual(Array(OF_MERCHANT).fill(201));
    expect(secondFlood.statuses).toEqual(Array(IN_ALL - OF_MERCHANT).fill(201));
  });
});

describe("a server", () => {
  test("refuses more calls than the store takes, of one merchant or of all, with 503 at once, and serves the others", async () => {
    // No call may miss its deadline on a busy machine: that would make room for others.
    // Its store has one connection, which the test keeps busy.
    await using server = await startTestServer({ callLimitMs: 120_000, engine: "embedded" });
    const callers = [await createCaller(server, 1), await createCaller(server, 1)] as const;
    // From now on both callers are known.
    for (const caller of callers) await flood(server, caller, 1).ended;
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const busy = server.database.db.transaction().execute(() => promise);
    const anonymous = async () => (await fetch(`${server.url}/v1/refunds`, { method: "POST" })).status;

    const firstFlood = flood(server, callers[0], AT_A_TIME + EXCESS);
    await firstFlood.untilStatuses(EXCESS);
    const beside = await anonymous();
    const secondFlood = flood(server, callers[1], AT_A_TIME + EXCESS);
    await secondFlood.untilStatuses(EXCESS);
    // A call that is refused early is refused before its token, which it lacks, is looked for.
    const excess = await anonymous();
    const refused = [...firstFlood.statuses.splice(0), ...secondFlood.statuses.splice(0)];
    finish();
    await Promise.all([busy, firstFlood.ended, secondFlood.ended]);

    expect([beside, excess]).toEqual([401, 503]);
    expect(refused).toEqual(Array(2 * EXCESS).fill(503));
    expect([firstFlood, secondFlood].map(({ statuses }) => statuses)).toEqual(
      Array(2).fill(Array(AT_A_TIME).fill(201)),
    );
  });

  test("serves new calls however many callers are still sending their bodies", async () => {
    await using server = await startTestServer();
    using connections = new DisposableStack();
    for (let caller = 0; caller < 2 * AT_A_TIME; caller += 1) {
      const token = caller < AT_A_TIME ? "sandbox_acme" : "sandbox_globex";
      const headers = { Authorization: `Bearer ${token}`, "Content-Length": 100, Expect: "100-continue" };
      const connection = connections.use(await openConnection(server.url));
      connection.send(head("/v1/refunds", headers));
      expect((await connection.response()).status).toBe(100);
    }

    expect((await issue(server, refundOf("pay_settled"))).status).toBe(201);
  });

  test("issues and delivers refunds although another session keeps the queue of notifications full", async () => {
    await using postgres = new AsyncDisposableStack();
    const { urlOf, stop } = await startPostgres({ settings: ["max_notify_queue_pages=64"] });
    postgres.defer(stop);
    const DATABASE_URL = urlOf("postgres");
    const strangers = new pg.Pool({ connectionString: DATABASE_URL, max: 2 });
    postgres.defer(() => strangers.end());
    const idle = await strangers.connect();
    postgres.defer(() => idle.release(true));
    await idle.query("listen anything");
    await idle.query("begin; select 1");
    const fill = () => strangers.query("select pg_notify('anything', repeat('x', 7999))");
    while (await fill().catch(() => false)) {}
    const ENCRYPTION_KEY = randomBytes(32).toString("base64");
    await using server = await startTestServer({ env: { DATABASE_URL, ENCRYPTION_KEY } });
    await using receiver = await startReceiver();
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);

    await acme.refund();

    await receiver.first(1);
  }, 60_000);
});
