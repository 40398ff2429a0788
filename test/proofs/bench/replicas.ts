import { randomUUID } from "node:crypto";
import { startPostgres } from "../../helpers/postgres.ts";
import { compare, record } from "./lib/compare.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, type Running, runServer } from "./lib/processes.ts";

/*
 * Two replicas on one PostgreSQL server compared with one, with the same total number of calls. Also asserts that under this
 * load no requestKey is used twice and no payment is refunded beyond its amount.
 */
const CALLS = 32;

const postgres = await startPostgres({ durable: true });
const databaseUrl = postgres.urlOf("postgres");
const replicas = [await runServer({ databaseUrl }), await runServer({ databaseUrl })] as const;
const payments = await makePayments(replicas[0], 64);

async function ratesOf(servers: readonly Running[]): Promise<number> {
  const connections = CALLS / servers.length;
  const results = await Promise.all(
    servers.map(({ url }) => load({ url, body: refundsOf(payments) }, { connections })),
  );
  return results.reduce((sum, { rate }) => sum + rate, 0);
}

const figure = await compare({
  name: "refunds by two replicas, PostgreSQL, 32 connections in all",
  unit: "refunds/s",
  ours: () => ratesOf(replicas),
  against: { name: "by one", measure: () => ratesOf([replicas[0]]) },
  // On two cores that PostgreSQL and the callers use as well, a second process can't add much, but it must not make it
  // slower.
  target: { atLeast: 1 },
});

/** Sends the same body to both replicas at the same time, and counts the statuses. */
async function race(bodies: readonly object[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  await Promise.all(
    bodies.map(async (body, index) => {
      const response = await fetch(`${replicas[index % 2]?.url}/v1/refunds`, {
        method: "POST",
        headers: { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" },
        body: JSON.stringify(body),
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

const amount = (value: number) => ({ currency: "USD", value });
const requestKey = randomUUID();
const one = { paymentId: payments[0], amount: amount(0.01), requestKey };
const duplicates = await race(Array.from({ length: 200 }, () => one));
const over = await race(
  Array.from({ length: 200 }, () => ({
    paymentId: "pay_settled",
    amount: amount(10),
    requestKey: randomUUID(),
  })),
);
await record(
  "replicas",
  [figure],
  [
    `Of 200 calls with one requestKey at once, ${toWords(duplicates)}.`,
    `Of 200 refunds of 10.00 of one payment of 100.00 at once, ${toWords(over)}.`,
  ],
);
if (duplicates["201 AUTHORIZED"] !== 1 || over["201 AUTHORIZED"] !== 10) process.exitCode = 1;
await Promise.all(replicas.map((replica) => replica.stop()));
await postgres.stop();
