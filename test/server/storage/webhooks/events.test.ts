import { describe, expect, test } from "vitest";
import { emitResourceEvent } from "../../../../server/storage/webhooks/resource-events.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { allEvents, createPayment, NOW, newMerchant } from "../../../helpers/store-factories.ts";

describe.each(engines)("events of accounts and customers on %s", (engine) => {
  const database = useDatabase(engine);

  test("are counted for each of a merchant's accounts and customers, also where ids are the same", async () => {
    const { db } = database;
    const [merchant, other] = [newMerchant(), newMerchant()];
    await createPayment(db, { merchant, paymentId: "same", emitted: true });
    const emit = (owner: string, type: "account.linked" | "account.unlinked" | "customer.created") =>
      emitResourceEvent(db, { merchant: owner, type, resourceId: "same", now: NOW });

    expect(await emit(merchant, "account.linked")).toBe(1);
    expect(await emit(merchant, "account.unlinked")).toBe(2);
    expect(await emit(merchant, "customer.created")).toBe(1);
    expect(await emit(other, "account.linked")).toBe(1);

    expect(await allEvents(db, other)).toEqual([
      {
        type: "account.linked",
        resource_id: "same",
        sequence: 1,
        occurred_at: NOW,
        payload: {
          type: "account.linked",
          timestamp: NOW.toISOString(),
          sequence: 1,
          data: { accountId: "same" },
        },
      },
    ]);
    expect(await allEvents(db, merchant)).toHaveLength(4);
  });

  test("are counted without a gap when twenty come at once", async () => {
    const event = { merchant: newMerchant(), type: "account.linked", resourceId: "acc_1", now: NOW } as const;

    const sequences = await Promise.all(
      Array.from({ length: 20 }, () => emitResourceEvent(database.db, event)),
    );

    expect(sequences.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});
