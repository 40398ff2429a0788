import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { StartOptions } from "../../../server/start.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/databases.ts";
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
import { type SilentProxy, startSilentProxy } from "../../helpers/network/silent-proxy.ts";
import { post, startTestServer, type TestResponse, type TestServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";

/** What is to be done in time has seconds, for a busy machine. */
const LIMITS = { connectMs: 2_000, statementMs: 2_000, backgroundMs: 2_000 };
/** More than the limits above together: a call that is abandoned waits for nothing any more. */
const CALL_LIMIT_MS = 20_000;
/** Generous for the same reason; without limits the calls would never end. */
const LATEST_MS = 60_000;
/** How many calls may wait for one payment. */
const MAX_WAITING = 128;
/** How many connections calls may hold while they wait for locks. */
const MOST_CONNECTIONS = 10;

describe("a server whose PostgreSQL", () => {
  let stored: TestDatabase;
  let proxy: SilentProxy;
  let server: TestServer;
  beforeEach(async () => {
    stored = await createTestDatabase("postgres");
    proxy = await startSilentProxy(stored.url);
    server = await start();
  });
  afterEach(async () => {
    await server.close();
    await proxy[Symbol.asyncDispose]();
    await stored.remove();
  });

  const start = (options: Pick<StartOptions, "callLimitMs" | "storeLimits"> = {}) =>
    startTestServer({
      env: { DATABASE_URL: proxy.url, ENCRYPTION_KEY: randomBytes(32).toString("base64") },
      dataDir: "unused",
      storeLimits: LIMITS,
      callLimitMs: CALL_LIMIT_MS,
      ...options,
    });
  const issue = (request: object) => post<Duplicate & Problem>(server.url, "/v1/refunds", request);
  const subscribe = () =>
    post<Problem>(server.url, "/v1/webhook/subscribe", subscriptionTo("http://localhost:9/"));
  const readiness = async () => (await fetch(`${server.url}/readyz`)).status;
  const untilReady = () => until(async () => ((await readiness()) === 200 ? true : undefined));

  /** Expects every call to get 503 with Retry-After in time. */
  async function expectUnavailable(calls: readonly Promise<TestResponse<Problem>>[]) {
    const startedAt = performance.now();
    for (const { status, headers, body } of await Promise.all(calls)) {
      expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
      expect(body.errorDetails.errorCode).toBe("UNAVAILABLE");
    }
    expect(performance.now() - startedAt).toBeLessThan(LATEST_MS);
  }

  /** @decision D08 */
  test("does not respond gives callers 503 in time, is not ready, and recovers when it responds", async () => {
    const request = refundOf("pay_settled");
    expect((await issue(refundOf("pay_settled"))).status).toBe(201);
    const before = await countRows(server);

    proxy.silence();
    // More than there are connections: some wait for a response, some for a connection.
    const calls = Array.from({ length: 30 }, () => issue(refundOf("pay_settled")));
    await Promise.all([expectUnavailable([...calls, issue(request), subscribe()]), until(notReady)]);
    proxy.speak();
    await untilReady();

    expect(await countRows(server)).toEqual(before);
    expect((await issue(request)).status).toBe(201);
    expect((await subscribe()).status).toBe(200);
  });

  /** Holds the rows of payments until the connection ends. */
  async function lock(...paymentIds: string[]): Promise<pg.Client> {
    const holder = new pg.Client(stored.options.databaseUrl);
    await holder.connect();
    await holder.query("begin");
    await holder.query("select from payments where payment_id = any($1) for update", [paymentIds]);
    return holder;
  }

  /** How many connections have waited for a lock for longer than refunds that share a statement do. */
  async function waitingForLocks(connection: pg.Client): Promise<number> {
    await connection.query("select pg_stat_clear_snapshot()"); // a transaction sees the view as it was first read
    const { rowCount } = await connection.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query_start < clock_timestamp() - interval '300 ms'`,
    );
    return rowCount ?? 0;
  }

  /** Payments of several merchants, because those of one merchant hold few connections while they wait. */
  async function createPayments(merchants: number, each: number) {
    const payments = [];
    for (let count = 0; count < merchants; count += 1) {
      const { merchant, token } = await createMerchant(server);
      for (let index = 0; index < each; index += 1)
        payments.push({ token, paymentId: await createPayment(server, { merchant }) });
    }
    return payments;
  }

  const notReady = async () => ((await readiness()) === 503 ? true : undefined);

  /** @decision D08 D09 */
  test("falls silent when it has stored a refund: a repeat names it", async () => {
    const request = refundOf("pay_settled");
    const before = await countRows(server);

    proxy.silenceAfter(request.requestKey);
    await expectUnavailable([issue(request)]);
    proxy.speak();
    const second = await issue(request);

    const { paymentId, requestKey, ...rest } = request;
    expect([second.status, second.body.existing]).toEqual([
      409,
      expect.objectContaining({ originalPaymentId: paymentId, amount: rest.amount }),
    ]);
    const { payments, events } = await countRows(server);
    expect([payments - before.payments, events - before.events]).toEqual([1, 1]);
  });

  /** @decision D08 D12a */
  test("has payments of many merchants locked serves the others all the while", async () => {
    await using patient = await start({ callLimitMs: 300_000, storeLimits: { statementMs: 300_000 } });
    const [free, ...locked] = [await createPayment(patient), ...(await createPayments(6, 4))];
    const holder = await lock(...locked.map(({ paymentId }) => paymentId));
    const calls = locked.map(({ token, paymentId }) =>
      post(patient.url, "/v1/refunds", refundOf(paymentId), { token }),
    );
    await until(async () => ((await waitingForLocks(holder)) >= MOST_CONNECTIONS ? true : undefined));

    const beside = await post(patient.url, "/v1/refunds", refundOf(free));
    const waiting = await waitingForLocks(holder);
    await holder.end();

    expect({ beside: beside.status, waiting }).toEqual({ beside: 201, waiting: MOST_CONNECTIONS });
    for (const { status } of await Promise.all(calls)) expect(status).toBe(201);
  });

  /** @decision D08 D12a */
  test("has a payment locked fails the calls that wait for it in time, stays ready, and does nothing of them later", async () => {
    const locked = await createPayment(server);
    const before = await countRows(server);
    const holder = await lock(locked);

    const expected = expectUnavailable([issue(refundOf(locked)), issue(refundOf(locked))]);
    await until(async () => ((await waitingForLocks(holder)) > 0 ? true : undefined));
    const ready = await readiness();
    await expected;
    await holder.end();

    expect(ready).toBe(200);
    expect((await issue(refundOf(locked))).status).toBe(201);
    const { payments, events } = await countRows(server);
    expect([payments - before.payments, events - before.events]).toEqual([1, 1]);
  });

  /** @decision D08 D12a */
  test("has a payment locked serves another merchant all the while, and afterwards as many calls for it as may wait", async () => {
    await using patient = await start({ callLimitMs: 300_000, storeLimits: { statementMs: 300_000 } });
    const [locked, { merchant, token }] = [await createPayment(patient), await createMerchant(patient)];
    const free = await createPayment(patient, { merchant });
    const cent = { amount: dollars(0.01) };
    const holder = await lock(locked);
    const ended: number[] = [];
    const calls = Array.from({ length: 150 }, async () =>
      ended.push((await post(patient.url, "/v1/refunds", refundOf(locked, cent))).status),
    );
    await until(() => (ended.length === 150 - MAX_WAITING ? true : undefined));

    const beside = await Promise.all(
      Array.from({ length: 40 }, () => post(patient.url, "/v1/refunds", refundOf(free, cent), { token })),
    );
    await until(async () => ((await waitingForLocks(holder)) > 0 ? true : undefined));
    const [waiting, refused] = [await waitingForLocks(holder), ended.splice(0)];
    await holder.end();
    await Promise.all(calls);

    expect(beside.map(({ status }) => status)).toEqual(Array(40).fill(201));
    expect({ waiting, refused }).toEqual({ waiting: 1, refused: Array(150 - MAX_WAITING).fill(503) });
    expect(ended).toEqual(Array(MAX_WAITING).fill(201));
  });

  test("has payments of two merchants locked lets 192 calls of one wait, 256 of both, and refuses the others", async () => {
    await using patient = await start({ callLimitMs: 300_000, storeLimits: { statementMs: 300_000 } });
    const callers = await Promise.all(
      [3, 2].map(async (payments) => {
        const { merchant, token } = await createMerchant(patient);
        const locked = Array.from({ length: payments }, () => createPayment(patient, { merchant }));
        return { token, locked: await Promise.all(locked) };
      }),
    );
    const holder = await lock(...callers.flatMap(({ locked }) => locked));
    const calls: Promise<unknown>[] = [];
    const statuses: number[][] = [];
    for (const [index, { token, locked }] of callers.entries()) {
      const ended: number[] = [];
      statuses.push(ended);
      for (const paymentId of locked.flatMap((id) => Array<string>(100).fill(id))) {
        const call = post(patient.url, "/v1/refunds", refundOf(paymentId, { amount: dollars(0.01) }), {
          token,
        });
        calls.push(call.then(({ status }) => ended.push(status)));
      }
      await until(() => (ended.length === locked.length * 100 - (index === 0 ? 192 : 64) ? true : undefined));
    }

    const refused = statuses.map((ended) => ended.splice(0));
    await holder.end();
    await Promise.all(calls);

    expect(refused.map((ended) => [...new Set(ended)])).toEqual([[503], [503]]);
    expect(statuses).toEqual([Array(192).fill(201), Array(64).fill(201)]);
  });

  /** @decision D08 */
  test("takes long without breaking any limit of its own gives a call 503 in time too, which may still be done", async () => {
    const generousLimits = { statementMs: 120_000 };
    await using other = await start({ callLimitMs: 300, storeLimits: generousLimits });
    const paymentId = await createPayment(other);
    const holder = await lock(paymentId);
    const request = refundOf(paymentId);

    await expectUnavailable([post(other.url, "/v1/refunds", request)]);
    await holder.end();
    const repeated = await until(async () => {
      const { status } = await issue(request);
      return status === 503 ? undefined : status;
    });

    expect([201, 409]).toContain(repeated);
    expect((await issue(request)).status).toBe(409);
  });
});
