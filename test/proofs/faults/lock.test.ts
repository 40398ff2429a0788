import { expect, test } from "vitest";
import { dollars, type Refund, refundOf } from "../../helpers/factories.ts";
import { begin, query } from "../../helpers/postgres.ts";
import { accept, type Responder, respondWith } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { until } from "../../helpers/subscriber.ts";
import { record, reportProgress, roundsOf } from "./setup/figures.ts";
import { createLastingStore } from "./setup/lasting-store.ts";
import { ACME, send } from "./setup/load.ts";
import { createBusiness } from "./setup/trial.ts";

const REPLICAS = 3;
const NEIGHBOUR = "sandbox_globex";
/** Calls of the neighbour alone, and as many beside the lock. */
const CALLS = 200;
/** Thirty calls a second for the locked payment. */
const CROWD_EVERY_MS = 33;
const LIMIT_MS = 5_000;
/** The first retry of a delivery comes so much later, and a tenth after that at most. */
const RETRY_MS = 5_000;

test("a forgotten transaction on a payment with refunds due and callers: another merchant notices nothing, on three replicas", async () => {
  const rounds = roundsOf(0.06);
  const store = await createLastingStore("postgres");
  const databaseUrl = store.env.DATABASE_URL ?? "";
  const start = () => store.start({ env: { RATE_LIMIT: "off" } });
  const servers = await Promise.all(Array.from({ length: REPLICAS }, start));
  const urlOf = (count: number) => servers[count % REPLICAS]?.url ?? "";
  const sentAt = new Map<string, number[]>();
  const respond: Responder = (response, delivery, count) => {
    const times = [...(sentAt.get(delivery.webhookId) ?? []), performance.now()];
    sentAt.set(delivery.webhookId, times);
    (times.length === 1 ? respondWith(500) : accept)(response, delivery, count);
  };
  const { receiver } = await createBusiness({ url: urlOf(0) }, { token: NEIGHBOUR, respond });
  await using _ = receiver;
  let [slowestMs, lateMs, refused] = [0, 0, 0];
  const [alone, beside]: number[][] = [[], []];

  for (let round = 1; round <= rounds; round += 1) {
    const [locked, free] = [await createWaiting(urlOf(0), ACME), await createWaiting(urlOf(1), NEIGHBOUR)];
    alone?.push(...(await callNeighbour(free.original)));
    await using holder = await begin(databaseUrl);
    await holder.client.query("select from payments where payment_id = $1 for update", [locked.original]);
    // The locked one is found first.
    const setDue = "update payments set due_at = now() - $2::interval where payment_id = $1";
    await query(databaseUrl, setDue, [locked.refund, "2 days"]);
    await query(databaseUrl, setDue, [free.refund, "1 day"]);
    const dueAtMs = performance.now();
    const crowd = startCrowd(locked.original);

    const besideLock = callNeighbour(free.original);
    await untilAuthorized(free.refund, NEIGHBOUR);
    slowestMs = Math.max(slowestMs, performance.now() - dueAtMs);
    beside?.push(...(await besideLock));
    const times = await until(() => {
      const sent = receiver.received.find(({ event }) => event.data.paymentId === free.refund);
      const all = sentAt.get(sent?.webhookId ?? "") ?? [];
      return all.length > 1 ? all : undefined;
    });
    lateMs = Math.max(lateMs, (times[1] ?? 0) - (times[0] ?? 0) - RETRY_MS);
    expect(await statusOf(locked.refund, ACME)).toBe("PENDING");
    await holder.client.query("rollback");
    await untilAuthorized(locked.refund, ACME);
    await crowd.stop();
    reportProgress("a payment locked", round, rounds, figures());
  }

  record("a payment locked", { rounds, ...figures() });
  expect(refused).toBe(0);
  expect(slowestMs).toBeLessThan(LIMIT_MS);
  expect(lateMs).toBeLessThan(LIMIT_MS);

  function figures() {
    return {
      "503 for the neighbour": refused,
      "ms at most to authorize its refund": Math.round(slowestMs),
      "ms late at most with its retry": Math.round(lateMs),
      "ms p50 alone": medianOf(alone ?? []),
      "ms p50 beside it": medianOf(beside ?? []),
    };
  }

  async function statusOf(paymentId: string, token: string) {
    return (await sandboxOf({ url: urlOf(2) }, token)("getPayment", { path: { paymentId } })).body.status;
  }

  async function untilAuthorized(paymentId: string, token: string) {
    await until(async () => (await statusOf(paymentId, token)) === "AUTHORIZED" || undefined);
  }

  /** Milliseconds that each of the neighbour's calls took, one after the other. */
  async function callNeighbour(paymentId: string): Promise<number[]> {
    const took: number[] = [];
    for (let count = 0; count < CALLS; count += 1) {
      const startedMs = performance.now();
      const request = refundOf(paymentId, { amount: dollars(0.01) });
      const response = await send<Refund>(urlOf(count), "/v1/refunds", request, NEIGHBOUR);
      took.push(performance.now() - startedMs);
      if (response?.status !== 201) refused += 1;
    }
    return took;
  }

  function startCrowd(paymentId: string) {
    const calls: Promise<unknown>[] = [];
    const timer = setInterval(() => {
      const request = refundOf(paymentId, { amount: dollars(0.01) });
      calls.push(send(urlOf(calls.length), "/v1/refunds", request, ACME));
    }, CROWD_EVERY_MS);
    return {
      async stop() {
        clearInterval(timer);
        await Promise.all(calls);
      },
    };
  }
});

/** A payment, and a refund of it that waits for its day. */
async function createWaiting(url: string, token: string) {
  const body = { amount: dollars(1_000), settledAt: new Date(Date.now() - LIMIT_MS).toISOString() };
  const payment = await sandboxOf({ url }, token)("createPayment", { body });
  const original = (payment.body as { paymentId: string }).paymentId;
  const refund = await send<Refund>(url, "/v1/refunds", refundOf(original), token);
  return { original, refund: refund?.body.paymentId ?? "" };
}

function medianOf(numbers: readonly number[]): number {
  return Math.round(numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0);
}
