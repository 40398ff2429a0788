import { sql } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import type { Db } from "../../../../server/storage/database/db-types.ts";
import {
  type OldRows,
  type RemovedBatch,
  removeOld,
} from "../../../../server/storage/webhooks/delete-expired.ts";
import { listDeliveries, redeliver } from "../../../../server/storage/webhooks/deliveries.ts";
import { emitResourceEvent } from "../../../../server/storage/webhooks/event-fan-out.ts";
import { createTestDatabase, useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  allRecords,
  createPayment,
  createRefund,
  createSubscription,
  issueRefund,
  LATER,
  NOW,
  newMerchant,
} from "../../../helpers/store-factories.ts";
import { forEachTest } from "../../../helpers/suite.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
/** A time in the future, for which all stored records are old. */
const inAMinute = () => new Date(Date.now() + MINUTE_MS);

describe.each(engines)("retention on %s", (engine) => {
  const database = useDatabase(engine, forEachTest);
  let merchant: string;

  beforeEach(async () => {
    merchant = newMerchant();
    await createSubscription(database.db, merchant);
  });

  /** Removes everything older in batches of two, as a server does; returns the numbers of removed deliveries and events. */
  async function removeOld(before: Date): Promise<[deliveries: number, events: number]> {
    return [await drain(database.db, "deliveries", before), await drain(database.db, "events", before)];
  }

  async function counts() {
    const { rows } = await sql`select (select count(*)::integer from deliveries) as deliveries,
      (select count(*)::integer from delivery_attempts) as attempts,
      (select count(*)::integer from events) as events`.execute(database.db);
    return rows[0];
  }

  test("removes finished deliveries with their attempts and events, and no payment or refund", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant });
    for (let key = 0; key < 5; key += 1)
      await createRefund(db, payment, { now: LATER, requestKey: `key-${key}` });
    await finish(db, new Date());
    const records = await allRecords(db, merchant);
    const before = await counts();

    expect(await removeOld(inAMinute())).toEqual([5, 5]);

    expect([before, await counts()]).toEqual([
      { deliveries: 5, attempts: 10, events: 5 },
      { deliveries: 0, attempts: 0, events: 0 },
    ]);
    expect(await allRecords(db, merchant)).toEqual(records);
    expect(await issueRefund(db, payment, { requestKey: "key-0" })).toBe("duplicate");
  });

  test("keeps what is newer", async () => {
    const { db } = database;
    await createRefund(db, await createPayment(db, { merchant }), { now: LATER });
    await finish(db, new Date(Date.now() - 2 * DAY_MS));

    expect(await removeOld(new Date(Date.now() - DAY_MS))).toEqual([0, 0]);

    expect(await counts()).toEqual({ deliveries: 1, attempts: 2, events: 1 });
  });

  test("keeps a delivery that is pending or was attempted lately, however old, and its event", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant });
    for (let count = 0; count < 3; count += 1) await createRefund(db, payment, { now: LATER });
    await finish(db, new Date());
    const [lately, pending] = await idsOf(db, merchant);
    await redeliver(db, { merchant, webhookId: pending ?? "", now: NOW });
    const before = inAMinute();
    await sql`insert into delivery_attempts (webhook_id, merchant, number, at, milliseconds)
      values (${lately}, ${merchant}, 3, ${before.toISOString()}::timestamptz, 1)`.execute(db);

    expect(await removeOld(before)).toEqual([1, 1]);

    const left = await listDeliveries(db, { merchant, limit: 10 });
    expect(left).toMatchObject({
      items: [
        { webhookId: lately, state: "DELIVERED" },
        { webhookId: pending, state: "PENDING" },
      ],
    });
  });

  test("goes on counting the events of an account or a customer", async () => {
    const { db } = database;
    const emit = (type: "account.linked" | "customer.created") =>
      emitResourceEvent(db, { merchant, type, resourceId: "res_1", now: NOW });
    await emit("account.linked");
    await emit("account.linked");
    await emit("customer.created");
    await finish(db, new Date());

    expect(await removeOld(inAMinute())).toEqual([3, 1]);

    expect([await emit("account.linked"), await emit("customer.created")]).toEqual([3, 2]);
  });
});

test("only one server removes at a time", async () => {
  await using stored = await createTestDatabase("postgres");
  const { db } = await stored.open();
  const merchant = newMerchant();
  await createSubscription(db, merchant);
  await createRefund(db, await createPayment(db, { merchant }), { now: LATER });
  await finish(db, new Date());
  const batch = { table: "deliveries", before: inAMinute(), after: "", atMost: 10 } as const;

  const [first, second] = await db.transaction().execute(async (transaction) => {
    const ours = await removeOld(transaction, batch);
    return [ours, await removeOld(db, batch)];
  });

  expect([first.removed, second]).toEqual([1, { removed: 0, last: undefined }]);
});

async function drain(store: Db, table: OldRows, before: Date): Promise<number> {
  let total = 0;
  let after: string | undefined = "";
  while (after !== undefined) {
    const batch: RemovedBatch = await removeOld(store, { table, before, after, atMost: 2 });
    total += batch.removed;
    after = batch.last;
  }
  return total;
}

/** Delivers everything at the second attempt; both attempts are made at this time. */
async function finish(store: Db, at: Date): Promise<void> {
  await sql`insert into delivery_attempts (webhook_id, merchant, number, at, milliseconds)
    select webhook_id, merchant, number, ${at.toISOString()}::timestamptz, 1 from deliveries, generate_series(1, 2) as number`.execute(
    store,
  );
  await sql`update deliveries set state = 'DELIVERED', due_at = null`.execute(store);
}

/** The ids of a merchant's deliveries, newest first. */
async function idsOf(store: Db, merchant: string): Promise<string[]> {
  const page = await listDeliveries(store, { merchant, limit: 10 });
  return page === "invalid-cursor" ? [] : page.items.map(({ webhookId }) => webhookId);
}
