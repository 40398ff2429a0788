import { expect, test } from "vitest";
import { endSubscription } from "../../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import {
  claim,
  createEvent,
  createSubscription,
  NOW,
  newMerchant,
} from "../../../helpers/store-factories.ts";

const database = useDatabase("postgres");

test("ending a subscription doesn't wait for a delivery that is locked, and nobody claims that delivery afterwards", async () => {
  const { db } = database;
  const merchant = newMerchant();
  const subscriptionKey = await createSubscription(db, merchant);
  await createEvent(db, merchant, "acc_1");
  await createEvent(db, merchant, "acc_2");
  const pending = db.selectFrom("deliveries").where("subscription_key", "=", subscriptionKey);
  await db.transaction().execute(async (transaction) => {
    const anyDelivery = transaction.selectFrom("deliveries").where("merchant", "=", merchant).limit(1);
    await anyDelivery.selectAll().forUpdate().execute();

    await endSubscription(db, { merchant, subscriptionKey, now: NOW });
  });

  const states = (await pending.select("state").execute()).map(({ state }) => state);
  expect(states.toSorted()).toEqual(["ENDED", "PENDING"]);
  expect(await claim(db, { merchant, subscriptionKey })).toEqual([]);
});
