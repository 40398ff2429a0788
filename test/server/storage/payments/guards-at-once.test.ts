import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import type { Store } from "../../../../server/storage/database/tables.ts";
import { createTestDatabase } from "../../../helpers/databases.ts";
import { accepts, refundInsert, statusChange } from "../../../helpers/payment-sql.ts";
import { runStatement } from "../../../helpers/postgres.ts";
import { startProduction } from "../../../helpers/production.ts";
import {
  createPayment,
  LONG_AGO,
  newMerchant,
  untilWaitingForLock,
} from "../../../helpers/store-factories.ts";
import { forSuite } from "../../../helpers/suite.ts";

describe("transactions at the same time", () => {
  const stored = forSuite(
    () => createTestDatabase("postgres"),
    (opened) => opened.remove(),
  );

  /** Two connections, and a payment of 100.00. */
  async function begin(): Promise<{
    here: Store;
    there: Store;
    payment: { merchant: string; paymentId: string };
  }> {
    const [here, there] = [(await stored.open()).db, (await stored.open()).db];
    return {
      here,
      there,
      payment: await createPayment(here, { merchant: newMerchant(), settledAt: LONG_AGO }),
    };
  }
  const insertOf = ({ merchant, paymentId }: { merchant: string; paymentId: string }) =>
    refundInsert(merchant, [{ of: paymentId, cents: 60_00 }]);

  test("can't together refund more than the amount", async () => {
    const { here, there, payment } = await begin();

    const second = await here.transaction().execute(async (transaction) => {
      await sql.raw(insertOf(payment)).execute(transaction);
      const inserting = accepts(there, insertOf(payment));
      await untilWaitingForLock(here, inserting);
      return { inserting };
    });

    expect(await second.inserting).toBe(false);
  });

  test("can't add a refund to a payment that fails meanwhile, or fail one to which a refund is added", async () => {
    const { here, there, payment } = await begin();

    const adding = await here.transaction().execute(async (transaction) => {
      await sql.raw(statusChange(payment.paymentId, "FAILED")).execute(transaction);
      const inserting = accepts(there, insertOf(payment));
      await untilWaitingForLock(here, inserting);
      return { inserting };
    });
    const other = await createPayment(here, {
      ...payment,
      paymentId: `pay_${randomUUID()}`,
      settledAt: LONG_AGO,
    });
    const failing = await here.transaction().execute(async (transaction) => {
      await sql.raw(insertOf(other)).execute(transaction);
      const changing = accepts(there, statusChange(other.paymentId, "FAILED"));
      await untilWaitingForLock(here, changing);
      return { changing };
    });

    expect([await adding.inserting, await failing.changing]).toEqual([false, false]);
  });

  test.each(["AUTHORIZED", "TERMINAL_FAILED"])(
    "can't delete a payment to which a refund is added: %s",
    async (status) => {
      const { here, there, payment } = await begin();
      const insert = refundInsert(payment.merchant, [{ of: payment.paymentId, cents: 1, status }]);
      const remove = `delete from payments where payment_id = '${payment.paymentId}'`;

      const deleting = await here.transaction().execute(async (transaction) => {
        await sql.raw(insert).execute(transaction);
        const waiting = accepts(there, remove);
        await untilWaitingForLock(here, waiting);
        return { waiting };
      });
      expect(await deleting.waiting).toBe(false);
    },
  );
});

test("a server starts only where the database adds up refunds", async () => {
  await using production = await startProduction();
  const url = production.env.DATABASE_URL ?? "";
  await runStatement(url, "alter table payments disable trigger payments_add_refunds");

  await expect(production.start()).rejects.toMatchObject({
    name: "StoreStartError",
    message: expect.stringMatching(/payments_add_refunds\. .*: select guard_payments\(\)$/),
  });
  await runStatement(url, "select guard_payments()");
  await production.start();
});
