import { rm } from "node:fs/promises";
import { PGliteDialect } from "kysely";
import { openEmbedded } from "../../../server/storage/database/embedded.ts";
import { openDatabase } from "../../../server/storage/database.ts";
import { insertPayment } from "../../../server/storage/payments/payments.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { compare, record } from "./lib/compare.ts";
import { rateOf, refundsOf, SECONDS } from "./lib/load.ts";
import { makePayments, runMock, runServer } from "./lib/processes.ts";
import { captureRefund, runRefund } from "./lib/statements.ts";

/*
 * Refunds a second on the embedded store, compared with a bare loop of the same statements on it, and with the Prism mock,
 * which stores nothing.
 */
const server = await runServer();
const payments = await makePayments(server, 64);
// Both are started by their commands, with their logs.
const logging = await runServer({ logLevel: "info" });
const loggedPayments = await makePayments(logging, 64);
const mock = await runMock();

const dataDir = await makeTempDir();
await makeTables();
const { pglite, unlock } = await openEmbedded(dataDir);
const nextRefund = await captureRefund(new PGliteDialect({ pglite }), "pay_bare");

async function makeTables(): Promise<void> {
  const { db, close } = await openDatabase({ dataDir });
  const settledAt = new Date(Date.now() - 30 * 86_400_000);
  const payment = { merchant: "acme", paymentId: "pay_bare", status: "SETTLED" as const, settledAt };
  await insertPayment(db, { ...payment, amountCents: 999_999_999, now: new Date(), announced: false });
  await close();
}

async function ofStatements(): Promise<number> {
  const endsAt = performance.now() + SECONDS * 1000;
  let refunds = 0;
  for (; performance.now() < endsAt; refunds += 1) {
    await runRefund(nextRefund(), async ({ text, values }) => (await pglite.query(text, values)).rows);
  }
  return refunds / SECONDS;
}

await record("refunds-embedded", [
  await compare({
    name: "refunds, embedded, 32 connections",
    unit: "refunds/s",
    ours: () => rateOf({ url: server.url, body: refundsOf(payments) }),
    against: { name: "the same statements, bare PGlite", measure: ofStatements },
    target: { atLeast: 2.5 },
  }),
  await compare({
    name: "refunds, embedded, 32 connections, with logs",
    unit: "refunds/s",
    ours: () => rateOf({ url: logging.url, body: refundsOf(loggedPayments) }),
    against: {
      name: "prism mock",
      measure: () => rateOf({ url: mock.url, body: refundsOf(loggedPayments) }),
    },
    target: { atLeast: 0.8 },
  }),
]);
await Promise.all([server.stop(), logging.stop(), mock.stop(), pglite.close()]);
unlock();
await rm(dataDir, { recursive: true });
