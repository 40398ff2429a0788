import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { ADMIN_COMMAND, ConfigError } from "../../config/environment.ts";
import { IN_MEMORY } from "../../config/store-settings.ts";
import type { Db } from "../database/tables.ts";
import { createEncryptionKeys, type EncryptionKeys } from "./secrets.ts";
import { KEY_BYTES, ownKey, type WrappingKey } from "./wrapping-keys.ts";

/** Secrets of live subscriptions that one key has encrypted. */
export type KeyUse = { readonly keyId: Uint8Array; readonly secrets: number };

/** The keys that have encrypted the secrets of live subscriptions, old ones that still sign included. */
export async function readKeyUses(db: Db): Promise<KeyUse[]> {
  const { rows } = await sql<KeyUse>`
    select substring(secret from 2 for 4) as "keyId", count(*)::integer as secrets
    from subscriptions s cross join lateral unnest(array[s.secret_ciphertext, s.old_secret_ciphertext]) as secret
    where s.ended_at is null and secret is not null
    group by 1`.execute(db);
  return rows;
}

/**
 * The configured keys, or without any that of the embedded sandbox, which is created once and kept in its data folder. Call it
 * only while the folder is locked.
 *
 * @throws ConfigError when a key is missing that some deliveries need to be signed: each of them would use up its attempts
 */
export async function openEncryptionKeys(
  { encryptionKeys, dataDir }: { encryptionKeys: readonly Buffer[]; dataDir: string },
  uses: readonly KeyUse[],
): Promise<EncryptionKeys> {
  if (encryptionKeys.length > 0) {
    const remedy = `Add the key to ENCRYPTION_KEYS_OLD, or end those subscriptions with: ${ADMIN_COMMAND} subscription disable`;
    return requireKeys(encryptionKeys.map(ownKey), uses, { location: "ENCRYPTION_KEY", remedy });
  }
  if (dataDir === IN_MEMORY) return createEncryptionKeys([ownKey(randomBytes(KEY_BYTES))]);
  const location = join(dataDir, "encryption.key");
  const kept = await readKey(location);
  const remedy = `Put the key back, or remove the folder ${dataDir} to begin anew.`;
  requireKeys(kept ? [ownKey(kept)] : [], uses, { location, remedy });
  return createEncryptionKeys([ownKey(kept ?? (await createKey(location)))]);
}

function requireKeys(
  keys: readonly WrappingKey[],
  uses: readonly KeyUse[],
  { location, remedy }: { location: string; remedy: string },
): EncryptionKeys {
  const missing = uses.filter(({ keyId }) => !keys.some(({ id }) => id.equals(keyId)));
  if (missing.length === 0) return createEncryptionKeys(keys);
  const count = missing.reduce((sum, { secrets }) => sum + secrets, 0);
  const names = missing.map(({ keyId }) => Buffer.from(keyId).toString("hex")).join(", ");
  throw new ConfigError(
    `${location} lacks the key (id ${names}) that encrypted the secretKeys of ${count} live subscriptions. ${remedy}`,
  );
}

/** Undefined when there is none, or an empty one that a power cut left. */
async function readKey(path: string): Promise<Buffer | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  });
  const key = Buffer.from(text, "base64");
  if (key.length === 0) return undefined;
  if (key.length === KEY_BYTES) return key;
  throw new ConfigError(
    `${path} is not a key of ${KEY_BYTES} bytes in base64. Put the right one back, or remove DATA_DIR.`,
  );
}

async function createKey(path: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES);
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(`${key.toString("base64")}\n`);
    // Before anything is encrypted with it: if a power cut lost the key, every secret would be lost too.
    await file.sync();
  } finally {
    await file.close();
  }
  return key;
}
