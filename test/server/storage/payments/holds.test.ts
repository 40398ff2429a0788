import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { hold, listHolds, release, untilHeld } from "../../../../server/storage/payments/holds.ts";
import { beginTransaction, lockPayment, useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import {
  allRefunds,
  createPayment,
  createRefund,
  decideRefund,
  getRefund,
  LATER,
  LONG_AGO,
  newMerchant,
  runDue,
  saveRefund,
  untilWaitingForLock,
} from "../../../helpers/store-factories.ts";

const reason = "a stolen token";

describe.each(engines)("held refunds on %s", (engine) => {
  const database = useDatabase(engine);
  afterEach(() => database.db.deleteFrom("holds").execute());

  const createPayments = async (settledAt?: Date) => {
    const merchants = [newMerchant(), newMerchant()] as const;
    const create = (merchant: string) =>
      createPayment(database.db, { merchant, ...(settledAt && { settledAt }) });
    return [await create(merchants[0]), await create(merchants[1])] as const;
  };

  test.each([
    ["a merchant", (merchant: string) => ({ merchant }), [false, true]],
    ["all", () => ({ merchant: undefined }), [false, false]],
  ])(
    "of %s are not saved as AUTHORIZED, and those that wait stay PENDING until released",
    async (_, choose, areSaved) => {
      const { db } = database;
      const [payment, other] = await createPayments(LONG_AGO);
      const chosen = choose(payment.merchant);
      const waiting = await createRefund(db, await createPayment(db, { merchant: payment.merchant }));

      expect(await hold(db, { ...chosen, reason })).toBe(true);
      expect(await hold(db, { ...chosen, reason: "another" })).toBe(false);
      const decided = [await decideRefund(db, payment), await decideRefund(db, other)];
      const saved = await Promise.all(decided.map((refund) => saveRefund(db, refund)));
      const { authorized } = await runDue(db, LATER);

      expect(decided.map(({ decision }) => decision)).toEqual(Array(2).fill({ paymentStatus: "AUTHORIZED" }));
      expect(saved).toEqual(areSaved);
      expect(authorized).toEqual([]);
      expect(await listHolds(db)).toEqual([{ ...chosen, reason, heldAt: expect.any(Date) }]);
      expect(await release(db, chosen)).toBe(true);
      expect(await release(db, chosen)).toBe(false);
      expect((await runDue(db, LATER)).authorized).toHaveLength(1);
      expect(await getRefund(db, waiting)).toMatchObject({ status: "AUTHORIZED" });
    },
  );
});

describe("a hold on postgres", () => {
  const database = useDatabase("postgres");

  test("takes effect only when the refunds that began before are saved", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant(), settledAt: LONG_AGO });
    const decided = await decideRefund(db, payment);
    // A refund reads the holds first, and then locks the payment, in one statement.
    const transaction = await lockPayment(db, payment);
    const saving = saveRefund(db, decided);
    await untilWaitingForLock(db, saving);
    await hold(db, { merchant: payment.merchant, reason });
    const whenHeld = untilHeld(db).then(() => allRefunds(db, payment.merchant));
    await untilWaitingForLock(db, whenHeld, 2);
    await transaction.rollback().execute();

    expect(await saving).toBe(true);
    expect(await whenHeld).toMatchObject([{ status: "AUTHORIZED" }]);
    expect(await saveRefund(db, await decideRefund(db, payment))).toBe(false);
  });

  test("leaves out refunds that a scan has found already", async () => {
    const { db } = database;
    const payment = await createPayment(db, { merchant: newMerchant() });
    await createRefund(db, payment);
    const transaction = await beginTransaction(db);
    await sql`lock table payments in exclusive mode`.execute(transaction);
    const scanning = runDue(db, LATER);
    await untilWaitingForLock(db, scanning);
    await hold(db, { merchant: payment.merchant, reason });
    await untilHeld(db);
    await transaction.rollback().execute();

    expect((await scanning).authorized).toEqual([]);
  });
});
