import { beforeEach, describe, expect, test } from "vitest";
import { endSubscription } from "../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../helpers/databases.ts";
import { engines } from "../../helpers/engine.ts";
import {
  claim as claimDue,
  createEvent,
  createSubscription,
  NOW,
  newMerchant,
} from "../../helpers/store-factories.ts";

describe.each(engines)("deliveries that wait on %s", (engine) => {
  const database = useDatabase(engine);
  let merchant: string;
  let subscriptionKey: string;

  beforeEach(async () => {
    merchant = newMerchant();
    subscriptionKey = await subscribe();
  });

  const subscribe = () => createSubscription(database.db, merchant);
  const emit = (resourceId = "acc_1") => createEvent(database.db, merchant, resourceId);
  const claim = (key = subscriptionKey) => claimDue(database.db, { merchant, subscriptionKey: key });
  const pending = () =>
    database.db
      .selectFrom("deliveries")
      .select(["webhook_id", "state"])
      .where("subscription_key", "=", subscriptionKey)
      .execute();

  test("of an ending subscription are neither waited for nor claimed while another transaction has locked them", async () => {
    await emit();
    await emit("acc_2");
    const [locked] = await pending();
    await database.db.transaction().execute(async (transaction) => {
      const one = transaction
        .selectFrom("deliveries")
        .where("webhook_id", "=", locked?.webhook_id ?? "")
        .where("merchant", "=", merchant);
      await one.selectAll().forUpdate().execute();
      // The embedded store has only one connection, and the transaction uses it.
      const store = engine !== "embedded" ? database.db : transaction;

      await endSubscription(store, { merchant, subscriptionKey, now: NOW });
    });

    const ended = (await pending()).filter(({ state }) => state === "ENDED").length;
    expect(ended).toBe(engine !== "embedded" ? 1 : 2);
    expect(await claim()).toEqual([]);
  });
});
