import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { IN_MEMORY } from "../../config/database-and-retention.ts";
import { ADMIN_COMMAND, ConfigError } from "../../config/environment.ts";
import type { Db } from "../database/db-types.ts";

/**
 * Encrypts and decrypts secrets with AES-256-GCM.
 * @param keys of 32 bytes; the first one encrypts, the others only decrypt
 */
export function createEncryptionKeys(keys: readonly Buffer[]): EncryptionKeys {
  const known = keys.map((key) => ({ id: toId(key), key: createSecretKey(key) }));
  const [first] = known;
  return {
    async encrypt(merchant, plaintext) {
      if (!first) throw new Error("no key to encrypt with");
      const nonce = randomBytes(TAG_AT - NONCE_AT);
      const cipher = createCipheriv(ALGORITHM, first.key, nonce).setAAD(toContext(merchant));
      const ciphertext = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), first.id, nonce, cipher.getAuthTag(), ciphertext]);
    },
    async decrypt(merchant, stored) {
      const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
      if (bytes.length < CIPHERTEXT_AT || bytes[0] !== VERSION)
        throw new Error("not the form of a stored secret");
      const used = known.find(({ id }) => id.equals(bytes.subarray(ID_AT, NONCE_AT)));
      if (!used) throw new Error("the key that encrypted this secret is not configured");
      const decipher = createDecipheriv(ALGORITHM, used.key, bytes.subarray(NONCE_AT, TAG_AT));
      decipher.setAAD(toContext(merchant)).setAuthTag(bytes.subarray(TAG_AT, CIPHERTEXT_AT));
      const plaintext = [decipher.update(bytes.subarray(CIPHERTEXT_AT)), decipher.final()];
      return Buffer.concat(plaintext).toString("utf8");
    },
    isCurrent: (stored) =>
      stored[0] === VERSION && (first?.id.equals(stored.subarray(ID_AT, NONCE_AT)) ?? false),
  };
}

/** Encrypts merchants' secrets for storage (D29). A secret is bound to its merchant: in another merchant's row it can't be decrypted. */
export type EncryptionKeys = {
  /** Rejects when there is no key. */
  encrypt(merchant: string, plaintext: string): Promise<Buffer>;
  /**
   * Reads what `encrypt` wrote for this merchant. Rejects when none of the keys encrypted it, or it was changed or belongs to
   * another merchant; the message reveals nothing about the secret.
   */
  decrypt(merchant: string, stored: Uint8Array): Promise<string>;
  /** Whether the first key encrypted a stored secret. */
  isCurrent(stored: Uint8Array): boolean;
};

/** The form of a stored secret: this version (1 byte), the id of its key (4), nonce (12), tag (16), ciphertext. */
const VERSION = 3;
const [ID_AT, NONCE_AT, TAG_AT, CIPHERTEXT_AT] = [1, 5, 17, 33];
const KEY_BYTES = 32;
const ALGORITHM = "aes-256-gcm";

function toContext(merchant: string): Buffer {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(merchant, "utf8")]);
}

/** Names a key and discloses nothing of it. It is derived from the key, which is so found wherever it is in the settings. */
function toId(key: Buffer): Buffer {
  const digest = createHash("sha256").update("key id").update(key).digest();
  return digest.subarray(0, NONCE_AT - ID_AT);
}

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
 * @throws ConfigError when a key is missing that some deliveries need to be signed: each of them would use up its attempts
 */
export async function openEncryptionKeys(
  { encryptionKeys, dataDir }: { encryptionKeys: readonly Buffer[]; dataDir: string },
  uses: readonly KeyUse[],
): Promise<EncryptionKeys> {
  if (encryptionKeys.length > 0) {
    const remedy = `Add the key to ENCRYPTION_KEYS_OLD, or end those subscriptions with: ${ADMIN_COMMAND} subscription disable`;
    requireKeys(encryptionKeys, uses, { location: "ENCRYPTION_KEY", remedy });
    return createEncryptionKeys(encryptionKeys);
  }
  if (dataDir === IN_MEMORY) return createEncryptionKeys([randomBytes(KEY_BYTES)]);
  const location = join(dataDir, "encryption.key");
  const kept = await readKey(location);
  const remedy = `Put the key back, or remove the folder ${dataDir} to begin anew.`;
  requireKeys(kept ? [kept] : [], uses, { location, remedy });
  return createEncryptionKeys([kept ?? (await createKey(location))]);
}

function requireKeys(
  keys: readonly Buffer[],
  uses: readonly KeyUse[],
  { location, remedy }: { location: string; remedy: string },
): void {
  const ids = keys.map(toId);
  const missing = uses.filter(({ keyId }) => !ids.some((id) => id.equals(keyId)));
  if (missing.length === 0) return;
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
