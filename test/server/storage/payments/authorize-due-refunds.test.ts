import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { transitionOriginal } from "../../../../server/storage/payments/original-transitions.ts";
import { beginTransaction, useDatabase } from "../../../helpers/databases.ts";
import {
  allEvents,
  allRefunds,
  createPayment,
  createRefund,
  LATER,
  newMerchant,
  runDue,
} from "../../../helpers/store-factories.ts";

const authorizeDue = async (...args: Parameters<typeof runDue>) => (await runDue(...args)).authorized;

describe("due refunds on postgres", () => {
  const database = useDatabase("postgres");

  test("are left for later when another transaction has locked them or their payment, and only those", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payments = await Promise.all(Array.from({ length: 20 }, () => createPayment(db, { merchant })));
    const refunds = await Promise.all(payments.map((payment) => createRefund(db, payment)));
    const locked = [...payments.slice(0, 5), ...refunds.slice(5, 10)].map(({ paymentId }) => paymentId);

    const transaction = await beginTransaction(db);
    await sql`
      select from payments where merchant = ${merchant} and payment_id = any(${locked}::text[]) for update`.execute(
      transaction,
    );
    const beside = await runDue(db, LATER, { page: 15, transaction: 15 });
    await transaction.rollback().execute();

    expect(beside).toMatchObject({ skipped: 10, errors: [] });
    expect(beside.authorized).toHaveLength(10);
    expect(await authorizeDue(db, LATER)).toHaveLength(10);
  });

  test("stay due when their authorization fails, and hold up no others", async () => {
    const { db } = database;
    const [brokenMerchant, otherMerchant] = [newMerchant(), newMerchant()];
    const [broken, neighbour, sound] = await Promise.all(
      [brokenMerchant, brokenMerchant, otherMerchant].map(async (merchant) =>
        createRefund(db, await createPayment(db, { merchant })),
      ),
    );
    // It has the number of the event of the authorization.
    await sql`
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload)
      values ('evt_broken', ${brokenMerchant}, 'refund.pending', ${broken?.paymentId}, 2, now(), '{}')`.execute(
      db,
    );

    const run = await runDue(db, LATER);

    expect(run.errors).toMatchObject([{ constraint: expect.stringMatching(/^events_sequence/) }]);
    expect(run.authorized.map(({ paymentId }) => paymentId).toSorted()).toEqual(
      [neighbour?.paymentId, sound?.paymentId].toSorted(),
    );
    await sql`delete from payments where payment_id = ${broken?.paymentId}`.execute(db);
  });

  test("are each authorized once, with one event, by two scans at once while payments fail", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const payments = await Promise.all(Array.from({ length: 40 }, () => createPayment(db, { merchant })));
    const failing = payments.slice(0, 10);
    await Promise.all(payments.flatMap((payment) => [1, 2, 3, 4, 5].map(() => createRefund(db, payment))));

    const [firstBatch, secondBatch] = await Promise.all([
      authorizeDue(db, LATER, { page: 17, transaction: 5 }),
      authorizeDue(db, LATER, { page: 23, transaction: 9 }),
      ...failing.map((payment) => transitionOriginal(db, payment, { to: "FAILED", now: LATER })),
    ]);

    const refunds = await allRefunds(db, merchant);
    const failed = new Set(failing.map((payment) => payment.paymentId));
    for (const { originalPaymentId, status, history } of refunds) {
      expect(status).toBe(failed.has(originalPaymentId) ? "TERMINAL_FAILED" : "AUTHORIZED");
      expect(history.at(-1)?.status).toBe(status);
    }
    const events = await allEvents(db, merchant);
    const authorized = events.filter((event) => event.type === "refund.authorized");
    expect(authorized).toHaveLength(firstBatch.length + secondBatch.length);
    expect(new Set(authorized.map((event) => event.resource_id)).size).toBe(
      firstBatch.length + secondBatch.length,
    );
    const changes = refunds.reduce((sum, refund) => sum + refund.history.length, 0);
    expect(events.filter((event) => event.type !== "payment.failed")).toHaveLength(changes);
  });
});
