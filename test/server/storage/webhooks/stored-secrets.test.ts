import { randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createEncryptionKeys } from "../../../../server/storage/webhooks/secrets.ts";
import { ownKey } from "../../../../server/storage/webhooks/wrapping-keys.ts";
import { engines } from "../../../helpers/engine.ts";
import { createMerchant, type Subscription, subscriptionTo } from "../../../helpers/factories.ts";
import { post, startTestServer } from "../../../helpers/server.ts";

const ENCRYPTION_KEY = randomBytes(32).toString("base64");

/** @decision D29 */
test.each(engines)("a secret is stored so that only the key opens it, on %s", async (engine) => {
  const env = engine === "embedded" ? {} : { ENCRYPTION_KEY };
  await using server = await startTestServer({ engine, env });
  const { merchant, token } = await createMerchant(server);
  const secretKey = `whsec_${Buffer.from(`secret of ${randomUUID()}`).toString("base64")}`;
  const request = subscriptionTo("http://127.0.0.1:9/webhooks", { secretKey });

  const { body } = await post<Subscription>(server.url, "/v1/webhook/subscribe", request, { token });

  const { secret_ciphertext: stored } = await server.database.db
    .selectFrom("subscriptions")
    .select("secret_ciphertext")
    .where("subscription_key", "=", body.subscriptionKey)
    .executeTakeFirstOrThrow();
  const secret = stored ?? Buffer.of();
  const keptKey = () => readFile(join(server.dataDir, "encryption.key"), "utf8");
  const key = Buffer.from(engine === "embedded" ? await keptKey() : ENCRYPTION_KEY, "base64");
  const [right, wrong] = [key, Buffer.alloc(32)].map((bytes) => createEncryptionKeys([ownKey(bytes)]));
  expect(await right?.decrypt(merchant, secret)).toBe(secretKey);
  await expect(wrong?.decrypt(merchant, secret)).rejects.toThrow("not configured");
  await expect(right?.decrypt("acme", secret)).rejects.toThrow();
});
