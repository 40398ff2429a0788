import { expect, test } from "vitest";
import { createTestDatabase } from "../../helpers/databases.ts";
import {
  type Duplicate,
  dollars,
  type Problem,
  type Refund,
  refundOf,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { type Cut, type Exchange, startWireProxy } from "../../helpers/network/wire-proxy.ts";
import { query } from "../../helpers/postgres.ts";
import { startReceiver, until } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { spawnServer } from "../../helpers/server.ts";
import { record } from "./setup/figures.ts";
import { postgresEnv } from "./setup/lasting-store.ts";
import { send } from "./setup/load.ts";

type Body = Refund & Duplicate & Problem;

test("a connection cut at any message of a refund leaves it whole or absent, and a repeat shows which", async () => {
  await using stored = await createTestDatabase("postgres");
  /** Reads without the proxy. */
  const rowsOf = async ({ paymentId, requestKey }: { paymentId: string; requestKey: string }) =>
    (await query<typeof WHOLE>(stored.url, STORED, [paymentId, requestKey]))[0];
  const direct = new URL(stored.url);
  await using proxy = await startWireProxy(Number(direct.port));
  const proxied = Object.assign(new URL(direct), { port: proxy.port });
  await using server = await spawnServer({ env: { ...postgresEnv(proxied.href), LOG_LEVEL: "silent" } });
  await using receiver = await startReceiver();
  const { url } = server;
  await send(url, "/v1/webhook/subscribe", subscriptionTo(receiver.url));

  const newRefund = async () => {
    const { body } = await sandboxOf(server)("createPayment", { body: { amount: dollars(100) } });
    const { paymentId } = body as { paymentId: string };
    return refundOf(paymentId, { requestKey: `key of ${paymentId}` });
  };
  const issue = (request: unknown) => send<Body>(url, "/v1/refunds", request);
  /** Statements that are new to a connection, or that it has already prepared. */
  const prepare = {
    async new() {
      proxy.dropAll();
      await until(async () => (await fetch(`${url}/readyz`)).status === 200);
    },
    async prepared() {
      expect((await issue(await newRefund()))?.status).toBe(201);
    },
  };

  const counted = {
    cuts: 0,
    "not there after": 0,
    "there after": 0,
    "half there": 0,
    "served all the same": 0,
  };
  const resources: string[] = [];
  for (const form of ["new", "prepared"] as const) {
    const first = await newRefund();
    await prepare[form]();
    proxy.watch(first.paymentId);
    expect((await issue(first))?.status).toBe(201);
    const shape = structuredClone(proxy.exchanges) as Exchange[];
    expect(shape.length).toBeGreaterThanOrEqual(2);
    const cuts = cutsOf(shape);

    for (const cut of cuts) {
      const request = await newRefund();
      await prepare[form]();
      proxy.watch(request.paymentId, cut);
      const response = await issue(request);
      const made = proxy.cutMade();
      proxy.watch("");
      if (!made) continue; // the connection had not prepared the statement yet, or already had
      counted.cuts += 1;

      const served = response?.status === 201;
      if (served) counted["served all the same"] += 1;
      else expect([response?.status, response?.body.errorDetails]).toEqual([503, UNAVAILABLE]);
      const before = await rowsOf(request);
      expect([NOTHING, WHOLE], JSON.stringify([cut, shape])).toContainEqual(before);
      counted[before?.refunds === 1 ? "there after" : "not there after"] += 1;
      const repeated = await until(async () => {
        const repeated = await issue(request);
        return repeated && repeated.status < 500 ? repeated : undefined;
      });
      expect(repeated.status, JSON.stringify(cut)).toBe(before?.refunds === 1 ? 409 : 201);
      if (served) expect(repeated.body.existing?.paymentId).toBe(response.body.paymentId);
      expect(await rowsOf(request)).toEqual(WHOLE);
      resources.push(repeated.status === 201 ? repeated.body.paymentId : repeated.body.existing.paymentId);
    }
  }

  record("connection cut at each message of a refund", counted);
  expect(counted.cuts).toBeGreaterThan(25);
  await until(() => {
    const received = new Set(receiver.received.map(({ event }) => event.data.paymentId));
    return resources.every((paymentId) => received.has(paymentId)) || undefined;
  });
  const ids = Map.groupBy(receiver.received, ({ event }) => event.data.paymentId);
  for (const paymentId of resources)
    expect(new Set(ids.get(paymentId)?.map(({ webhookId }) => webhookId)).size).toBe(1);
});

const UNAVAILABLE = { errorCode: "UNAVAILABLE", errorMessage: expect.any(String) };
const NOTHING = { refunds: 0, reservedCents: 0, events: 0, deliveries: 0 };
const WHOLE = { refunds: 1, reservedCents: 100, events: 1, deliveries: 1 };

function cutsOf(exchanges: readonly Exchange[]): Cut[] {
  return exchanges.flatMap(({ statement, response }, exchange) => [
    ...Array.from(statement, (_, passed) => ({ exchange, side: "statement" as const, passed })),
    ...Array.from(`${response}.`, (_, passed) => ({ exchange, side: "response" as const, passed })),
  ]);
}

/** What is stored of a refund of a payment ($1) with a requestKey ($2). */
const STORED = `
  with refunds as (select payment_id from payments where request_key = $2),
    emitted as (select event_id from events where resource_id in (select payment_id from refunds))
  select (select count(*)::int from refunds) as refunds,
    (select refunded_cents::int from payments where payment_id = $1) as "reservedCents",
    (select count(*)::int from emitted) as events,
    (select count(*)::int from deliveries where event_id in (select event_id from emitted)) as deliveries`;
