import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { ADMIN_COMMAND, ConfigError } from "../../config/environment.ts";
import { IN_MEMORY } from "../../config/store-settings.ts";
import type { Db } from "../database/tables.ts";

/*
 * Form of a stored secret: version (1 byte), id of the wrapping key (4), length of the wrapped data key (2), wrapped data key,
 * and the secret sealed by the data key. The wrapped data key is stored with each secret, so that a secret needs no other row.
 */
const VERSION = 2;
const LENGTH_AT = 5;
const WRAPPED_AT = 7;

/**
 * Encrypts merchants' secrets for storage (D29), each merchant's by data keys of its own, which a wrapping key encrypts. A
 * secret is bound to its merchant: in another merchant's row it can't be decrypted.
 */
export type EncryptionKeys = {
  /** Rejects when there is no key, or the data key can't be wrapped. */
  encrypt(merchant: string, plaintext: string): Promise<Buffer>;
  /**
   * Reads what `encrypt` wrote for this merchant. Rejects when none of the keys encrypted it, or it was changed or belongs to
   * another merchant; the message reveals nothing about the secret.
   */
  decrypt(merchant: string, stored: Uint8Array): Promise<string>;
  /** Whether the first key encrypted a stored secret. */
  isCurrent(stored: Uint8Array): boolean;
};

/** Data keys that are kept in memory, so that each is unwrapped once and not for each delivery. */
const MAX_DATA_KEYS = 10_000;

type DataKey = { key: Buffer; wrapped: Buffer };

/** @param keys the first one encrypts, the others only decrypt */
export function createEncryptionKeys(keys: readonly WrappingKey[]): EncryptionKeys {
  const byMerchant = createCache<DataKey>();
  // Made for each delivery, a key object would cost as much as decrypting with it.
  const byWrapped = createCache<KeyObject>();
  const [first] = keys;

  function createDataKey(): DataKey {
    if (!first) throw new Error("no key to encrypt with");
    const key = randomBytes(KEY_BYTES);
    return { key, wrapped: first.wrap(key) };
  }

  return {
    async encrypt(merchant, plaintext) {
      const { key, wrapped } = byMerchant(merchant, createDataKey);
      const head = Buffer.alloc(WRAPPED_AT, VERSION);
      first?.id.copy(head, 1);
      head.writeUInt16BE(wrapped.length, LENGTH_AT);
      return Buffer.concat([head, wrapped, seal(key, toContext(merchant), Buffer.from(plaintext, "utf8"))]);
    },
    async decrypt(merchant, stored) {
      const { keyId, wrapped, sealed } = parse(stored);
      const wrappingKey = keys.find(({ id }) => id.equals(keyId));
      if (!wrappingKey) throw new Error("the key that encrypted this secret is not configured");
      const cacheKey = `${keyId.toString("latin1")}${wrapped.toString("latin1")}`;
      const dataKey = byWrapped(cacheKey, () => createSecretKey(wrappingKey.unwrap(wrapped)));
      return unseal(dataKey, toContext(merchant), sealed).toString("utf8");
    },
    isCurrent: (stored) =>
      stored[0] === VERSION && (first?.id.equals(stored.subarray(1, LENGTH_AT)) ?? false),
  };
}

function parse(stored: Uint8Array) {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  if (bytes.length < WRAPPED_AT || bytes[0] !== VERSION) throw new Error("not the form of a stored secret");
  const sealedAt = WRAPPED_AT + bytes.readUInt16BE(LENGTH_AT);
  return {
    keyId: bytes.subarray(1, LENGTH_AT),
    wrapped: bytes.subarray(WRAPPED_AT, sealedAt),
    sealed: bytes.subarray(sealedAt),
  };
}

function toContext(merchant: string): Buffer {
  return Buffer.concat([Buffer.of(VERSION), Buffer.from(merchant, "utf8")]);
}

function createCache<Value>() {
  const known = new Map<string, Value>();
  return (name: string, create: () => Value): Value => {
    const value = known.get(name) ?? create();
    const [oldest] = known.keys();
    if (known.size >= MAX_DATA_KEYS && !known.has(name) && oldest !== undefined) known.delete(oldest);
    known.set(name, value);
    return value;
  };
}

/** Encrypts the data keys with which secrets are encrypted. */
export type WrappingKey = {
  /** 4 bytes that are stored beside what it has wrapped, and disclose nothing. */
  readonly id: Buffer;
  wrap(dataKey: Buffer): Buffer;
  /** Throws for anything that this key has not wrapped. */
  unwrap(wrapped: Buffer): Buffer;
};

export const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A form of encryption that is the same for data keys and for secrets: nonce (12 bytes), tag (16), ciphertext. */
export function seal(key: Buffer, context: Buffer, plaintext: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(context);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/** Reverses {@link seal}. Throws when the key or the context is another one, or the bytes were changed. */
export function unseal(key: Buffer | KeyObject, context: Buffer, sealed: Buffer): Buffer {
  const [nonce, rest] = [sealed.subarray(0, NONCE_BYTES), sealed.subarray(NONCE_BYTES)];
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(context);
  decipher.setAuthTag(rest.subarray(0, TAG_BYTES));
  return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]);
}

/** A key of 32 bytes. Its id is derived from it, so it is found wherever it is in the settings. */
export function ownKey(key: Buffer): WrappingKey {
  if (key.length !== KEY_BYTES)
    throw new Error(`an encryption key has ${KEY_BYTES} bytes, not ${key.length}`);
  const id = createHash("sha256").update("key id").update(key).digest().subarray(0, KEY_ID_BYTES);
  return { id, wrap: (dataKey) => seal(key, id, dataKey), unwrap: (wrapped) => unseal(key, id, wrapped) };
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
