/** Statements use their indexes when tables have grown. */
import { describe, expect, test } from "vitest";
import { pagesOf, useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  createPayment,
  decideRefund,
  insertPayments,
  issueRefund,
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
});
