import { PGliteDialect } from "kysely";
import { openEmbedded } from "../../../server/storage/database/embedded.ts";
import { insertPayment } from "../../../server/storage/payments/payments.ts";
import { compare } from "./lib/compare.ts";
import { atEnd, bench, createStore, makePayments, type Running, serve, startMock } from "./lib/frame.ts";
import { rateOf, refundsOf, SECONDS } from "./lib/load.ts";
import { captureRefund, runRefund } from "./lib/statements.ts";

/*
 * Refunds a second on the embedded store, compared with a bare loop of the same statements on it, and with the Prism mock,
 * which stores nothing.
 */
await bench(async () => {
  const server = await serve(await createStore("embedded"));
  // Both are started by their commands, with their logs.
  const logging = await serve(await createStore("embedded"), { LOG_LEVEL: "info" });
  const mock = await startMock();
  const [payments, loggedPayments] = [await makePayments(server), await makePayments(logging)];
  const ofStatements = await openBare();
  const of =
    ({ url }: Running, ids: readonly string[]) =>
    () =>
      rateOf({ url, body: refundsOf(ids) });
  const name = "refunds, embedded, 32 connections";
  const unit = "refunds/s";
  return {
    figures: [
      await compare({
        ...{ name, unit, ours: of(server, payments), theirs: ofStatements },
        against: "the same statements, bare PGlite",
        atLeast: 2.5,
      }),
      await compare({
        ...{ name: `${name}, with logs`, unit },
        ...{ ours: of(logging, loggedPayments), theirs: of(mock, loggedPayments) },
        against: "prism mock",
        atLeast: 0.8,
      }),
    ],
  };
});

/** A bare loop of a refund's statements on a store of its own. */
async function openBare(): Promise<() => Promise<number>> {
  const store = await createStore("embedded");
  const { db, close } = await store.open();
  const settledAt = new Date(Date.now() - 30 * 86_400_000);
  const payment = { merchant: "acme", paymentId: "pay_bare", status: "SETTLED" as const, settledAt };
  await insertPayment(db, { ...payment, amountCents: 999_999_999, now: new Date(), emitted: false });
  await close();
  const { pglite, unlock } = await openEmbedded(store.env.DATA_DIR ?? "");
  atEnd(() => pglite.close().then(unlock));
  const nextRefund = await captureRefund(new PGliteDialect({ pglite }), "pay_bare");
  return async () => {
    const endsAt = performance.now() + SECONDS * 1000;
    let refunds = 0;
    for (; performance.now() < endsAt; refunds += 1) {
      await runRefund(nextRefund(), async ({ text, values }) => (await pglite.query(text, values)).rows);
    }
    return refunds / SECONDS;
  };
}
