import { randomBytes, randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Db } from "../../../server/storage/database/db-types.ts";
import { createEncryptionKeys } from "../../../server/storage/webhooks/secret-encryption.ts";
import { insertSubscription } from "../../../server/storage/webhooks/subscriptions.ts";
import { runCommand, spawnCommand } from "../../helpers/admin-command.ts";
import { startProduction } from "../../helpers/deployment.ts";
import { folderOfTest } from "../../helpers/suite.ts";

const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

const keysOf = (...keys: readonly Buffer[]) => createEncryptionKeys(keys);

async function subscribe(
  store: Db,
  secret: { readonly merchant: string; readonly secretCiphertext: Uint8Array },
): Promise<string> {
  const url = "https://receiver.invalid/";
  const isSecret = async () => false;
  const subscription = { ...secret, url, isSecret, type: "ALL", details: [], now: new Date() } as const;
  const saved = await insertSubscription(store, subscription, 10_000);
  return saved === "limit" ? "" : saved.subscriptionKey;
}

async function cipherOf(store: Db, subscriptionKey: string): Promise<Uint8Array | null> {
  const secrets = store
    .selectFrom("subscriptions")
    .select("secret_ciphertext")
    .$castTo<{ secret_ciphertext: Uint8Array | null }>();
  const found = secrets.where("subscription_key", "=", subscriptionKey);
  return (await found.executeTakeFirstOrThrow()).secret_ciphertext;
}

test("npm run admin -- subscriptions rotate-secret replaces a secret that is read from standard input or a file, and says until when the old one signs", async () => {
  await using production = await startProduction();
  const { DATABASE_URL = "", ENCRYPTION_KEY = "" } = production.env;
  const { db } = (await production.start()).database;
  const env = { DATABASE_URL, ENCRYPTION_KEY };
  const keys = keysOf(Buffer.from(ENCRYPTION_KEY, "base64"));
  const merchant = randomUUID();
  const subscriptionKey = await subscribe(db, {
    merchant,
    secretCiphertext: await keys.encrypt(merchant, "old"),
  });
  const rotate = ["subscriptions", "rotate-secret", subscriptionKey];
  const folder = await folderOfTest();
  const file = join(folder, "secret");
  await writeFile(file, "from a file\r\n");
  const lastOf = (text: string) => text.split("\n").at(-2);

  const byStdin = await spawnCommand([...rotate, "--overlap", "36h"], { env, stdin: `${SECRET}\n` });
  const repeated = await runCommand(rotate, { env, stdin: SECRET });
  const third = await runCommand(rotate, { env, stdin: "another" });
  const byFile = await runCommand([...rotate, file, "--overlap", "0h"], { env });
  const refused = await Promise.all(
    ["", "x".repeat(257), "a\0b"].map((text) => runCommand(rotate, { env, stdin: text })),
  );
  const unknown = await runCommand(["subscriptions", "rotate-secret", "sub_unknown"], { env, stdin: SECRET });

  const name = `${subscriptionKey} of ${merchant}`;
  expect([byStdin, repeated, third, byFile, unknown].map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, expect.stringMatching(`^${name}: has the new secret; the old one signs, too, until 20.*Z\n$`)],
    [0, expect.stringMatching(`^${name}: had this secret already; the old one signs, too, until 20.*Z\n$`)],
    [
      1,
      expect.stringMatching(
        `^${name}: unchanged, because .* until 20.*Z. Wait, or end it at once with --overlap 0h\n$`,
      ),
    ],
    [0, `${name}: has the new secret; it alone signs\n`],
    [1, "sub_unknown: there is no such live subscription\n"],
  ]);
  expect(byStdin.log.join("") + byStdin.stdout + byStdin.stderr).not.toContain(SECRET);
  expect([byStdin.stderr, lastOf(byFile.stderr)]).toEqual(["", expect.stringContaining("could guess")]);
  expect(refused.map(({ code, stderr }) => [code, lastOf(stderr)])).toEqual([
    [1, expect.stringContaining("is empty")],
    [1, expect.stringContaining("at most 256 characters")],
    [1, expect.stringContaining("U+0000")],
  ]);
  const stored = await cipherOf(db, subscriptionKey);
  expect(stored && (await keys.decrypt(merchant, stored))).toBe("from a file");
});

test("npm run admin -- rotate-key encrypts every secret anew, once, and names those that no key opens", async () => {
  await using production = await startProduction();
  const { DATABASE_URL = "", ENCRYPTION_KEY: oldText = "" } = production.env;
  const server = await production.start();
  const { db } = server.database;
  const [newKey, lostKey] = [randomBytes(32), randomBytes(32)];
  const merchant = randomUUID();
  const subscribeBy = async (key: Buffer) =>
    subscribe(db, { merchant, secretCiphertext: await keysOf(key).encrypt(merchant, "secret") });
  for (let count = 0; count < 501; count += 1) await subscribeBy(Buffer.from(oldText, "base64"));
  const current = await subscribeBy(newKey);
  const lost = await subscribeBy(lostKey);
  const env = { DATABASE_URL, ENCRYPTION_KEY: newKey.toString("base64"), ENCRYPTION_KEYS_OLD: oldText };
  const readBoth = async () => [await cipherOf(db, current), await cipherOf(db, lost)];
  const before = await readBoth();

  const first = await runCommand(["rotate-key"], { env });
  const untouched = await readBoth();
  const withTheLost = { ...env, ENCRYPTION_KEYS_OLD: `${oldText},${lostKey.toString("base64")}` };
  const second = await runCommand(["rotate-key"], { env: withTheLost });
  const third = await runCommand(["rotate-key"], { env: { ...env, ENCRYPTION_KEYS_OLD: "" } });

  expect([first.code, first.stdout]).toEqual([
    1,
    `503 secrets: 501 encrypted anew, 1 were current\n${lost}: none of the keys opens its secret\n`,
  ]);
  expect(first.stderr).toContain("ENCRYPTION_KEYS_OLD");
  expect(untouched).toEqual(before);
  expect([second.code, second.stdout]).toEqual([
    0,
    expect.stringContaining("503 secrets: 1 encrypted anew, 502 were current\n"),
  ]);
  expect([third.code, third.stdout]).toEqual([0, expect.stringContaining("503 secrets: 0 encrypted anew")]);
});
