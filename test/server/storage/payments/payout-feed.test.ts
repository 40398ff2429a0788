import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import type { Db } from "../../../../server/storage/database/db-types.ts";
import { hold, release } from "../../../../server/storage/payments/holds.ts";
import { transitionOriginal } from "../../../../server/storage/payments/original-transitions.ts";
import { listPayouts } from "../../../../server/storage/payments/payout-feed.ts";
import { beginTransaction, useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  authorizeDueIn,
  createPayment,
  createRefund,
  decideRefund,
  LATER,
  LONG_AGO,
  NOW,
  newMerchant,
  publish,
  saveRefund,
  untilWaitingForLock,
} from "../../../helpers/store-factories.ts";

async function readFeed(store: Db, after: number, limit = 100) {
  const page = await listPayouts(store, { after, limit });
  if (page === "unknown-cursor") throw new Error(page);
  return page;
}

describe.each(engines)("the payout feed on %s", (engine) => {
  const database = useDatabase(engine);
  afterEach(() => sql.raw("truncate payments, events, payouts_waiting, payouts").execute(database.db));
  const settledLongAgo = () => createPayment(database.db, { merchant: newMerchant(), settledAt: LONG_AGO });
  const read = (after = 0, limit = 100) => readFeed(database.db, after, limit);
  const idsOf = (payouts: readonly { paymentId: string }[]) => payouts.map(({ paymentId }) => paymentId);

  test("has every authorized refund once, in the order of authorization", async () => {
    const { db } = database;
    const due = await createRefund(db, await createPayment(db, { merchant: newMerchant() }));
    const original = await settledLongAgo();
    const issued = await createRefund(db, original, { requestKey: "\uFEFFkey", clientReferenceId: "order" });
    const failed = await createRefund(db, original, { amountCents: 1_000_00 });

    await publish(db);
    const [first, ...others] = await read();
    await authorizeDueIn(db, LATER);
    await publish(db);
    await publish(db);

    expect([others, failed.status]).toEqual([[], "TERMINAL_FAILED"]);
    expect(first).toEqual({
      cursor: expect.any(Number),
      merchant: original.merchant,
      paymentId: issued.paymentId,
      requestKey: "\uFEFFkey",
      originalPaymentId: original.paymentId,
      amountCents: 10_00,
      clientReferenceId: "order",
      softDescriptor: null,
      authorizedAt: NOW,
    });
    expect(await read(first?.cursor)).toMatchObject([{ paymentId: due.paymentId, authorizedAt: LATER }]);
  });

  test("leaves out what was authorized before a hold and is not published yet, until it is released", async () => {
    const { db } = database;
    const [heldPayment, otherPayment] = [await settledLongAgo(), await settledLongAgo()];
    const held = await createRefund(db, heldPayment);
    const published = await createRefund(db, otherPayment);

    await hold(db, { merchant: heldPayment.merchant, reason: "a test" });
    await publish(db);
    const before = await read();
    await release(db, heldPayment);
    await publish(db);

    expect(idsOf(before)).toEqual([published.paymentId]);
    expect(idsOf(await read(before[0]?.cursor))).toEqual([held.paymentId]);
  });

  test("leaves out a refund whose payment has failed since, and refuses a cursor that nothing has reached", async () => {
    const { db } = database;
    const original = await settledLongAgo();
    await createRefund(db, original);
    await publish(db);
    const [payout] = await read();
    await transitionOriginal(db, original, { to: "FAILED", now: NOW });

    expect(payout).toBeDefined();
    expect(await read()).toEqual([]);
    expect(await listPayouts(db, { after: (Date.now() + 60_000) * 1_000, limit: 1 })).toBe("unknown-cursor");
  });

  test("continues after the highest position, even after a restore or with the database's clock behind", async () => {
    const { db } = database;
    const original = await settledLongAgo();
    const published = await createRefund(db, original);
    await publish(db);
    const [forgotten] = await read();
    // As in a database that was restored to a moment before it was published.
    await sql`delete from payouts`.execute(db);
    const future = (Date.now() + 3_600_000) * 1_000;
    const next = await createRefund(db, original);
    await publish(db);

    expect(forgotten?.paymentId).toBe(published.paymentId);
    expect(idsOf(await read(forgotten?.cursor))).toEqual([next.paymentId]);

    await sql`update payouts set position = ${future}`.execute(db);
    const last = await createRefund(db, original);
    await publish(db);
    expect(idsOf(await read(future))).toEqual([last.paymentId]);
  });
});

describe("the payout feed, at the same time on postgres", () => {
  const database = useDatabase("postgres");

  test("loses no refund whose authorization is committed after a later one was published", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const create = () => createPayment(db, { merchant, settledAt: LONG_AGO });
    const [slow, fast] = [await create(), await create()];
    const early = await decideRefund(db, slow);
    const transaction = await beginTransaction(db);
    await saveRefund(transaction, early);
    const late = await createRefund(db, fast);
    await publish(db);
    const before = await readFeed(db, 0);
    await transaction.commit().execute();
    await publish(db);

    expect(before).toMatchObject([{ paymentId: late.paymentId }]);
    expect(await readFeed(db, before[0]?.cursor ?? 0)).toMatchObject([{ paymentId: early.paymentId }]);
  });

  test("is published by one server at a time, so that no reader misses a lower position", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const original = await createPayment(db, { merchant, settledAt: LONG_AGO });
    const [{ cursor: after = 0 } = {}] = (await readFeed(db, 0)).slice(-1);
    const first = await createRefund(db, original);
    const transaction = await beginTransaction(db);
    await sql`select from payouts_waiting where merchant = ${merchant} for update`.execute(transaction);
    const publishing = publish(db);
    await untilWaitingForLock(db, publishing);
    const second = await createRefund(db, original, { now: new Date(NOW.getTime() - 1) });

    const other = publish(db);
    const meanwhile = await readFeed(db, after);
    await transaction.rollback().execute();
    await Promise.all([publishing, other]);

    expect(meanwhile).toEqual([]);
    const ids = (await readFeed(db, after)).map(({ paymentId }) => paymentId);
    expect(ids).toEqual([first.paymentId, second.paymentId]);
  });
});
