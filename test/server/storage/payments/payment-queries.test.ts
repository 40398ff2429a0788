import { describe, expect, test } from "vitest";
import { listPayments } from "../../../../server/storage/payments/payment-queries.ts";
import type { PaymentRecord } from "../../../../server/storage/statements/payment-record.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { createPayment, createRefund, LATER, NOW, newMerchant } from "../../../helpers/store-factories.ts";

describe.each(engines)("a list of payments on %s", (engine) => {
  const database = useDatabase(engine);

  /** Reads all pages. */
  async function readAll(query: { merchant: string; kind?: "DEBIT" | "REFUND"; limit: number }) {
    const records: PaymentRecord[] = [];
    let cursor: string | undefined;
    do {
      const page = await listPayments(database.db, { ...query, cursor });
      if (page === "invalid-cursor") throw new Error("its own cursor");
      expect(page.payments.length).toBeLessThanOrEqual(query.limit);
      records.push(...page.payments);
      cursor = page.nextCursor ?? undefined;
    } while (cursor);
    return records;
  }

  test("is empty for a merchant without payments", async () => {
    const page = await listPayments(database.db, { merchant: newMerchant(), limit: 10 });

    expect(page).toEqual({ payments: [], nextCursor: null });
  });

  test("returns each record once, newest first, also records of one millisecond", async () => {
    const { db } = database;
    const merchant = newMerchant();
    await createPayment(db, { merchant: newMerchant() });
    const older = [await createPayment(db, { merchant }), await createPayment(db, { merchant })] as const;
    const newer = await createPayment(db, { merchant, now: LATER });
    const refund = await createRefund(db, newer, { now: LATER });

    const newestFirst = [refund, newer, older[1], older[0]].map((record) => record.paymentId);
    for (const limit of [1, 2, 3, 4, 5]) {
      const records = await readAll({ merchant, limit });
      expect(records.map((record) => record.paymentId).sort()).toEqual([...newestFirst].sort());
      expect(records.map((record) => record.createdAt)).toEqual([LATER, LATER, NOW, NOW]);
    }
    expect((await readAll({ merchant, kind: "REFUND", limit: 1 })).at(0)).toEqual(refund);
    expect(await readAll({ merchant, kind: "DEBIT", limit: 1 })).toHaveLength(3);
  });

  test("goes on where it was when something is added meanwhile", async () => {
    const { db } = database;
    const merchant = newMerchant();
    const first = await createPayment(db, { merchant });
    await createPayment(db, { merchant, now: LATER });
    const page = await listPayments(db, { merchant, limit: 1 });
    if (page === "invalid-cursor" || page.nextCursor === null) throw new Error("no second page");

    await createPayment(db, { merchant, now: LATER });

    const next = await listPayments(db, { merchant, limit: 1, cursor: page.nextCursor });
    expect(next).toEqual({ payments: [first], nextCursor: null });
  });

  test.each(["", "x", "MTIz", Buffer.from("1 \0").toString("base64url"), "' or 1=1", "9".repeat(2_000)])(
    "refuses %j as a cursor",
    async (cursor) => {
      expect(await listPayments(database.db, { merchant: newMerchant(), limit: 1, cursor })).toBe(
        "invalid-cursor",
      );
    },
  );
});
