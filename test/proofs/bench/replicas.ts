import { randomUUID } from "node:crypto";
import { compare } from "./lib/compare.ts";
import { bench, createStore, makePayments, type Running, serve } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";

/*
 * Two replicas on one PostgreSQL server compared with one, with the same total number of calls. Also asserts that under this
 * load no requestKey is used twice and no payment is refunded beyond its amount.
 */
const CALLS = 32;
const RACES = 200;

/** Sends bodies to the servers in turn at the same time, and counts the outcomes. */
async function race(servers: readonly Running[], bodyOf: () => object): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await Promise.all(
    Array.from({ length: RACES }, async (_, index) => {
      const response = await fetch(`${servers[index % servers.length]?.url}/v1/refunds`, {
        method: "POST",
        headers: { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" },
        body: JSON.stringify(bodyOf()),
      });
      const { paymentStatus = "problem" } = (await response.json()) as { paymentStatus?: string };
      const kind = `${response.status} ${paymentStatus}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }),
  );
  return counts;
}

const toWords = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([kind, count]) => `${count} got ${kind}`)
    .join(" and ");

await bench(async (engine) => {
  const store = await createStore(engine);
  const [one, other] = [await serve(store), await serve(store)];
  const payments = await makePayments(one);
  const ratesOf = (servers: readonly Running[]) => async () => {
    const options = { connections: CALLS / servers.length };
    const loads = servers.map(({ url }) => load({ url, body: refundsOf(payments) }, options));
    return (await Promise.all(loads)).reduce((sum, { rate }) => sum + rate, 0);
  };
  const figure = await compare({
    name: "refunds by two replicas, PostgreSQL, 32 connections in all",
    unit: "refunds/s",
    ours: ratesOf([one, other]),
    theirs: ratesOf([one]),
    against: "by one",
    // On two cores that PostgreSQL and the callers use as well, a second process can't add much, but it must not make it
    // slower.
    atLeast: 1,
  });
  const refund = {
    paymentId: payments[0],
    amount: { currency: "USD", value: 0.01 },
    requestKey: randomUUID(),
  };
  const ofAll = { paymentId: "pay_settled", amount: { currency: "USD", value: 10 } };
  const duplicates = await race([one, other], () => refund);
  const over = await race([one, other], () => ({ ...ofAll, requestKey: randomUUID() }));
  if (duplicates["201 AUTHORIZED"] !== 1 || over["201 AUTHORIZED"] !== 10)
    throw new Error(`refunded twice: ${toWords(duplicates)}; ${toWords(over)}`);
  return {
    figures: [figure],
    notes: [
      `Of ${RACES} calls with one requestKey at once, ${toWords(duplicates)}.`,
      `Of ${RACES} refunds of 10.00 of one payment of 100.00 at once, ${toWords(over)}.`,
    ],
  };
});
