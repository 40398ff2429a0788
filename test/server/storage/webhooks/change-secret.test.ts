import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { openStore } from "../../../../server/storage/open-store.ts";
import { changeSecret } from "../../../../server/storage/webhooks/change-secret.ts";
import { createEncryptionKeys } from "../../../../server/storage/webhooks/secret-encryption.ts";
import { endSubscription, insertSubscription } from "../../../../server/storage/webhooks/subscriptions.ts";
import { useDatabase } from "../../../helpers/databases.ts";
import { engines } from "../../../helpers/engine.ts";
import { claim, createEvent, NOW, newMerchant } from "../../../helpers/store-factories.ts";

const HOUR_MS = 3_600_000;
const plusHours = (hours: number) => new Date(NOW.getTime() + hours * HOUR_MS);

describe.each(engines)("the secret of a subscription on %s", (engine) => {
  const database = useDatabase(engine);
  const key = randomBytes(32);
  const keys = createEncryptionKeys([key]);
  let merchant: string;
  let subscriptionKey: string;

  beforeEach(async () => {
    merchant = newMerchant();
    const saved = await insertSubscription(database.db, {
      merchant,
      url: "https://merchant.example/hooks",
      secretCiphertext: await keys.encrypt(merchant, "first"),
      isSecret: async () => false,
      type: "ALL",
      details: [],
      now: NOW,
    });
    subscriptionKey = saved === "limit" ? "" : saved.subscriptionKey;
  });

  const change = (secretKey: string, overlapHours: number, { now = NOW, of = subscriptionKey } = {}) => {
    const overlapMs = overlapHours * HOUR_MS;
    return changeSecret(database.db, { merchant, subscriptionKey: of, secretKey, overlapMs, now }, keys);
  };

  /** The secrets that sign a delivery which is claimed at a time. */
  async function secretsAt(now: Date): Promise<string[]> {
    await createEvent(database.db, merchant, `acc_${now.getTime()}_${Math.random()}`);
    const [attempt] = await claim(database.db, { merchant, subscriptionKey }, { now, limit: 1 });
    return Promise.all(attempt?.secretCiphertexts.map((secret) => keys.decrypt(merchant, secret)) ?? []);
  }

  const stored = () =>
    database.db
      .selectFrom("subscriptions")
      .select(["secret_ciphertext", "old_secret_ciphertext"])
      .where("subscription_key", "=", subscriptionKey)
      .executeTakeFirstOrThrow();

  test("is gone after the overlap, and not before", async () => {
    await change("second", 24);

    const { forgetOldSecrets } = await openStore(database);
    await forgetOldSecrets(plusHours(23));
    const during = await stored();
    await forgetOldSecrets(plusHours(24));

    expect(during.old_secret_ciphertext).not.toBeNull();
    expect(await stored()).toMatchObject({
      secret_ciphertext: expect.anything(),
      old_secret_ciphertext: null,
    });
  });

  test("is changed by only one of two simultaneous commands, and both report which", async () => {
    const wishes = ["second", "third", "fourth"];

    const results = await Promise.all(wishes.map((wish) => change(wish, 24)));

    expect(results.map(({ kind }) => kind).toSorted()).toEqual(["changed", "overlapping", "overlapping"]);
    const winner = wishes[results.findIndex(({ kind }) => kind === "changed")];
    expect(await secretsAt(plusHours(1))).toEqual([winner, "first"]);
  });

  test("is deleted with the previous one when the subscription ends, and can't be changed any more", async () => {
    await change("second", 24);

    await endSubscription(database.db, { merchant, subscriptionKey, now: plusHours(1) });

    expect(await stored()).toEqual({ secret_ciphertext: null, old_secret_ciphertext: null });
    expect(await change("third", 1, { now: plusHours(2) })).toEqual({ kind: "not-live" });
    expect(await change("third", 1, { of: "sub_unknown" })).toEqual({ kind: "not-live" });
    const revived = database.db.updateTable("subscriptions").set({ secret_ciphertext: Buffer.of(1) });
    await expect(revived.where("subscription_key", "=", subscriptionKey).execute()).rejects.toThrow(
      "secret_while_live",
    );
  });
});
