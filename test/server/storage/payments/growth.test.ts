import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import {
  failOriginal,
  REFUNDS_AT_ONCE,
  settleOriginal,
} from "../../../../server/storage/payments/payments.ts";
import { pagesOf, useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  copyRefund,
  createPayment,
  createRefund,
  createSubscription,
  decideRefund,
  insertPayments,
  issueRefund,
  NOW,
  newMerchant,
  saveRefund,
} from "../../../helpers/store-factories.ts";
import { forEachTest } from "../../../helpers/suite.ts";

/** More than the five executions after which PostgreSQL may keep a plan. */
const FIRST_REFUNDS = 20;
/** Enough for some hundred pages of the table and its indexes. */
const ROWS = 3_000;
const FEW_PAGES = 50;

describe.each(engines)("a store that has grown since it was opened, on %s", (engine) => {
  const database = useDatabase(engine, forEachTest);

  test("finds a refund's payment without reading the others of its merchant", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    // Statements are now planned for an almost empty table.
    for (let i = 0; i < FIRST_REFUNDS; i += 1) await issueRefund(db, payment, { amountCents: 1 });
    await insertPayments(db, payment.merchant, ROWS);

    const pages = await pagesOf(db, "^payments", async (store) => {
      expect(await saveRefund(store, await decideRefund(store, payment, { amountCents: 1 }))).toBe(true);
    });

    expect(pages).toBeLessThan(FEW_PAGES);
  });

  test("settles and fails a payment by statements that don't grow with its refunds", async () => {
    const { db } = database;
    const merchant = newMerchant();
    await createSubscription(db, merchant);
    const payment = await createPayment(db, { merchant, status: "PROCESSING" });
    const refund = await createRefund(db, payment, { amountCents: 1 });
    await copyRefund(db, refund, 2 * REFUNDS_AT_ONCE);
    await sql`create table statements (changed text, rows integer)`.execute(db);
    await sql`create function count_rows() returns trigger language plpgsql as $$ begin
      insert into statements select tg_table_name, count(*) from changed;
      return null;
    end $$`.execute(db);
    for (const change of ["update on payments", "insert on events", "insert on deliveries"]) {
      await sql`create trigger count_rows after ${sql.raw(change)} referencing new table as changed
        for each statement execute function count_rows()`.execute(db);
    }

    await settleOriginal(db, { ...payment, settledAt: NOW, now: NOW });
    await failOriginal(db, { ...payment, now: NOW });

    const { rows } = await sql`
      select changed, max(rows) as most, sum(rows)::integer as all from statements group by changed order by changed`.execute(
      db,
    );
    const all = 2 * REFUNDS_AT_ONCE + 1;
    expect(rows).toEqual([
      { changed: "deliveries", most: REFUNDS_AT_ONCE, all: all + 2 },
      { changed: "events", most: REFUNDS_AT_ONCE, all: all + 2 },
      { changed: "payments", most: REFUNDS_AT_ONCE, all: 2 * all + 4 },
    ]);
  });
});
