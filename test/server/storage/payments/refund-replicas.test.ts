import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Store } from "../../../../server/storage/database/tables.ts";
import { openDatabase } from "../../../../server/storage/database.ts";
import { createRefundStore } from "../../../../server/storage/payments/refund-batches.ts";
import type { PaymentKey } from "../../../../server/storage/statements/payment-record.ts";
import type { NewRefund } from "../../../../server/storage/statements/refunds.ts";
import { saveRefunds } from "../../../../server/storage/statements/statements.ts";
import { bindStore } from "../../../../server/storage/storage.ts";
import { createTestDatabase } from "../../../helpers/databases.ts";
import {
  allRefunds,
  createPayment,
  decideRefund,
  LONG_AGO,
  newMerchant,
  REFUND_STATEMENTS,
  untilWaitingForLock,
} from "../../../helpers/store-factories.ts";
import { forSuite } from "../../../helpers/suite.ts";

describe("refunds of one statement, with two servers on one PostgreSQL", () => {
  const replicas = forSuite(
    async () => {
      const stored = await createTestDatabase("postgres");
      // Statements wait for locks without a limit, so that a test fails if it should not have waited.
      const open = () => openDatabase({ ...stored.options, limits: { statementMs: 120_000 } });
      const [one, other] = [await open(), await open()];
      const remove = async () => {
        await Promise.all([one.close(), other.close()]);
        await stored.remove();
      };
      return { one, other, remove };
    },
    ({ remove }) => remove(),
  );
  const db = () => replicas.one.db;
  const createPayments = (count: number, merchant = newMerchant()) =>
    Promise.all(Array.from({ length: count }, () => createPayment(db(), { merchant })));

  /** Begins a transaction, which lasts until it is released and then is rolled back. */
  async function hold(work: (transaction: Store) => Promise<unknown>) {
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const rollback = new Error("rolled back");
    const ended = replicas.other.db
      .transaction()
      .execute(async (transaction) => {
        await work(transaction);
        held.resolve();
        await released.promise;
        throw rollback;
      })
      .catch((error: unknown) => {
        if (error !== rollback) throw error;
      });
    await Promise.race([held.promise, ended]);
    return async () => {
      released.resolve();
      await ended;
    };
  }

  const lock = ({ merchant, paymentId }: PaymentKey) =>
    hold((transaction) =>
      transaction
        .selectFrom("payments")
        .select("payment_id")
        .where("payment_id", "=", paymentId)
        .where("merchant", "=", merchant)
        .forUpdate()
        .execute(),
    );

  /** Saves two lists at once, one on each server, while both have to wait for a held lock; then releases the lock. */
  async function saveBoth(lists: readonly [NewRefund[], NewRefund[]], release: () => Promise<void>) {
    const saving = Promise.all([
      saveRefunds(replicas.one.db, lists[0]),
      saveRefunds(replicas.other.db, lists[1]),
    ]);
    await untilWaitingForLock(db(), saving, 2);
    await release();
    return (await saving).flat().filter(Boolean).length;
  }

  const decideAll = (payments: readonly PaymentKey[], keys: readonly string[]) =>
    Promise.all(
      payments.map((payment, index) => decideRefund(db(), payment, { requestKey: keys[index] ?? "" })),
    );

  /** @decision D12a */
  test("never wait for each other's payments in a circle", async () => {
    const payments = await createPayments(5);
    const ordered = payments.toSorted((a, b) => (a.paymentId < b.paymentId ? -1 : 1));
    const release = await lock(ordered[2] as PaymentKey);
    const there = await decideAll(ordered, ["1", "2", "3", "4", "5"]);
    const back = await decideAll(ordered.toReversed(), ["6", "7", "8", "9", "10"]);

    // Otherwise one would have locked the first two, the other the last two, and both would wait for the third.
    expect(await saveBoth([there, back], release)).toBe(10);
  });

  /** @decision D10 */
  test("never wait for each other's requestKeys in a circle", async () => {
    const merchant = newMerchant();
    const [payments, others] = [await createPayments(5, merchant), await createPayments(5, merchant)];
    const keys = ["1", "2", "3", "4", "5"];
    const [there, back] = [await decideAll(payments, keys), await decideAll(others, keys.toReversed())];
    const holder = await decideRefund(db(), await createPayment(db(), { merchant }), { requestKey: "3" });
    const release = await hold((transaction) => saveRefunds(transaction, [holder]));

    expect(await saveBoth([there, back], release)).toBe(5);
    expect((await allRefunds(db(), merchant)).map(({ requestKey }) => requestKey).toSorted()).toEqual(keys);
  });

  /** @decision D12a */
  test("are decided on the payment as another transaction left it", async () => {
    const [failing, healthy] = await createPayments(2);
    if (!failing || !healthy) throw new Error("there are two");
    const refunds = [await decideRefund(db(), failing), await decideRefund(db(), healthy)];

    const saving = await replicas.other.db.transaction().execute(async (transaction) => {
      await transaction
        .updateTable("payments")
        .set({ status: "FAILED", history: sql`history || ${JSON.stringify({ status: "FAILED" })}::jsonb` })
        .where("payment_id", "=", failing.paymentId)
        .execute();
      const running = saveRefunds(db(), refunds);
      await untilWaitingForLock(db(), running);
      return { running };
    });

    expect(await saving.running).toEqual([false, true]);
  });

  test("do not wait for the lock of one of them, which is saved once it is free", async () => {
    const store = createRefundStore(bindStore(db(), REFUND_STATEMENTS));
    const merchant = newMerchant();
    const [locked, ...free] = await createPayments(4, merchant);
    if (!locked) throw new Error("there are four");
    const release = await lock(locked);
    const settled: string[] = [];
    const save = async (payment: PaymentKey) => {
      const saved = await store.saveRefund(await decideRefund(db(), payment, { now: LONG_AGO }));
      settled.push(payment.paymentId);
      return saved;
    };

    const waiting = save(locked);
    const [others, later] = [await Promise.all(free.map(save)), await Promise.all(free.map(save))];

    expect([...others, ...later]).toEqual(Array(6).fill(true));
    expect(settled).not.toContain(locked.paymentId);
    await release();
    expect(await waiting).toBe(true);
    expect(await allRefunds(db(), merchant)).toHaveLength(7);
  });
});
