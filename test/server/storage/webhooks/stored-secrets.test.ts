import { createHash, randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createEncryptionKeys } from "../../../../server/storage/webhooks/secrets.ts";
import { ownKey } from "../../../../server/storage/webhooks/wrapping-keys.ts";
import { dumpDatabase, formsOf } from "../../../helpers/dump.ts";
import { engines } from "../../../helpers/engine.ts";
import { createMerchant, type Subscription, subscriptionTo } from "../../../helpers/factories.ts";
import { post, useTestServer } from "../../../helpers/server.ts";

/** Not a substring of anything else. */
const SECRET = `whsec_${Buffer.from(`secret of ${randomUUID()}`).toString("base64")}`;

const ENCRYPTION_KEY = randomBytes(32).toString("base64");

describe.each(engines)("a secret on %s", (engine) => {
  let merchant: string;
  let token: string;
  let subscriptionKey: string;

  const server = useTestServer({ engine, env: engine === "embedded" ? {} : { ENCRYPTION_KEY } });
  beforeAll(async () => {
    ({ merchant, token } = await createMerchant(server));
    const request = subscriptionTo("http://127.0.0.1:9/webhooks", { secretKey: SECRET });
    const { status, body } = await post<Subscription>(server.url, "/v1/webhook/subscribe", request, {
      token,
    });
    expect([status, Object.keys(body)]).toEqual([200, ["subscriptionKey"]]);
    subscriptionKey = body.subscriptionKey;
  });

  /** @decision D29 */
  test("is stored so that only the key opens it", async () => {
    const { db } = server.database;
    const { secret_ciphertext: stored } = await db
      .selectFrom("subscriptions")
      .select("secret_ciphertext")
      .where("subscription_key", "=", subscriptionKey)
      .executeTakeFirstOrThrow();
    const secret = stored ?? Buffer.of();
    const keptKey = () => readFile(join(server.dataDir, "encryption.key"), "utf8");
    const key = Buffer.from(engine === "embedded" ? await keptKey() : ENCRYPTION_KEY, "base64");

    const [right, wrong] = [key, Buffer.alloc(32)].map((bytes) => createEncryptionKeys([ownKey(bytes)]));
    expect(await right?.decrypt(merchant, secret)).toBe(SECRET);
    await expect(wrong?.decrypt(merchant, secret)).rejects.toThrow("not configured");
    await expect(right?.decrypt("acme", secret)).rejects.toThrow();
  });

  /** @decision D18 D29 */
  test("is in clear in no column of any table, and neither is an access token", async () => {
    const everything = await dumpDatabase(server.database.db);

    for (const form of [SECRET, token, "sandbox_acme"].flatMap(formsOf))
      expect(everything).not.toContain(form);
    expect(everything).toContain(createHash("sha256").update(token).digest("hex"));
    expect(everything).toContain(subscriptionKey);
  });

  /** @decision D29 */
  test("is in no log line, and neither is an access token, whatever becomes of the call", async () => {
    const request = subscriptionTo("http://127.0.0.1:9/webhooks", { secretKey: SECRET });
    const refused = await post(server.url, "/v1/webhook/subscribe", { ...request, more: 1 }, { token });
    const unknown = await post(server.url, "/v1/webhook/subscribe", request, { token: `${token}-wrong` });
    const inQuery = await post(server.url, `/v1/refund?secret=${encodeURIComponent(SECRET)}`, request, {
      token,
    });
    await server.database.db.schema.alterTable("subscriptions").renameTo("elsewhere").execute();
    const failed = await post(server.url, "/v1/webhook/subscribe", request, { token });
    await server.database.db.schema.alterTable("elsewhere").renameTo("subscriptions").execute();

    expect([refused, unknown, inQuery, failed].map(({ status }) => status)).toEqual([400, 401, 404, 500]);
    const logged = server.logLines.join("");
    for (const form of [SECRET, token].flatMap(formsOf)) expect(logged).not.toContain(form);
    expect(logged).toContain('"path":"/v1/webhook/subscribe"');
    expect(logged).toContain('relation \\"subscriptions\\" does not exist');
  });
});
