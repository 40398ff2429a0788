import { beforeEach, describe, expect, test } from "vitest";
import { listWaiting, readShares } from "../../../server/storage/webhooks/claims.ts";
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

  test("are found by their subscriptions, with how many are in progress, page by page or those due of some merchants", async () => {
    const other = await subscribe();
    await emit();
    const [claimed] = await claim(other);
    const find = async (now = NOW, ended: string[] = []) => {
      const { due } = await readShares(database.db, { merchants: [merchant], realNow: now, ended });
      return due.toSorted((a, b) => (a.subscriptionKey < b.subscriptionKey ? -1 : 1));
    };
    const listAll = async (now = NOW) => {
      const all = [];
      for (let after = ""; ; after = all.at(-1)?.subscriptionKey ?? "") {
        const page = await listWaiting(database.db, { now, after, limit: 1 });
        if (page.length === 0) return all.filter((waiting) => waiting.merchant === merchant);
        all.push(...page);
      }
    };
    const early = new Date(NOW.getTime() - 1);
    const shareOf = (key: string, count = 0) => ({ merchant, subscriptionKey: key, timeouts: null, count });
    const shares = (ofOther: number) =>
      [other, subscriptionKey].toSorted().map((key) => shareOf(key, key === other ? ofOther : 0));

    expect(await find(early)).toEqual([]);
    expect(await find()).toEqual([shareOf(subscriptionKey)]);
    expect(await listAll(early)).toEqual([{ ...shareOf(subscriptionKey), ended: false, due: false }]);
    await emit();
    expect(await find()).toEqual(shares(1));
    expect(await listAll()).toEqual(shares(1).map((share) => ({ ...share, ended: false, due: true })));
    // An attempt that has ended at this server no longer counts, whether its result is stored or not.
    expect(await find(NOW, [claimed?.webhookId ?? ""])).toEqual(shares(0));
    await claim();
    expect(await find()).toEqual([shareOf(other, 1)]);
  });

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
