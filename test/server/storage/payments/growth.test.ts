import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../../../server/storage/database/tables.ts";
import type { Database } from "../../../../server/storage/database.ts";
import { listPayments } from "../../../../server/storage/payments/payment-queries.ts";
import { createTestDatabase, pagesOf, type TestDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  createPayment,
  decideRefund,
  issueRefund,
  newMerchant,
  saveRefund,
} from "../../../helpers/store-factories.ts";

/** More than the five executions after which PostgreSQL may keep a plan. */
const FIRST_REFUNDS = 20;
/** Enough for some hundred pages of the table and its indexes. */
const ROWS = 3_000;
const FEW_PAGES = 50;

describe.each(engines)("a store that has grown since it was opened, on %s", (engine) => {
  let testDatabase: TestDatabase;
  let database: Database;

  beforeEach(async () => {
    testDatabase = await createTestDatabase(engine);
    database = await testDatabase.open();
  });
  afterEach(() => testDatabase.remove());

  test("finds a refund's payment without reading the others of its merchant", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    // Statements are now planned for an almost empty table.
    for (let i = 0; i < FIRST_REFUNDS; i += 1) await issueRefund(db, payment, { amountCents: 1 });
    await insertPayments(db, payment.merchant);

    const pages = await pagesOf(db, "^payments", async (store) => {
      expect(await saveRefund(store, await decideRefund(store, payment, { amountCents: 1 }))).toBe(true);
    });

    expect(pages).toBeLessThan(FEW_PAGES);
  });

  test("lists the newest of a merchant without reading the others", async () => {
    const { db } = database;
    const merchant = newMerchant();
    await insertPayments(db, merchant);
    await sql`analyze payments`.execute(db);

    const pages = await pagesOf(db, "^payments", async (store) => {
      expect(await listPayments(store, { merchant, limit: 20 })).toMatchObject({ payments: { length: 20 } });
    });

    expect(pages).toBeLessThan(FEW_PAGES);
  });
});

async function insertPayments(store: Store, merchant: string): Promise<void> {
  await sql`
    insert into payments (payment_id, merchant, kind, status, amount_cents, settled_at, history, sequence, created_at)
    select 'pay_' || n, ${merchant}, 'DEBIT', 'SETTLED', 1, now(), '[]', 0, now() + n * interval '1 s'
    from generate_series(1, ${ROWS}::integer) as n`.execute(store);
}
