import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";

/*
 * Form of a stored secret: version (1 byte), key id (4), nonce (12), tag (16), ciphertext. The key id is derived from the
 * key itself, so a secret stays readable as long as its key is configured, wherever it is in the list.
 */
const ALGORITHM = "aes-256-gcm";
const VERSION = 1;
export const KEY_BYTES = 32;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;
const PREFIX_BYTES = HEADER_BYTES + NONCE_BYTES + TAG_BYTES;

/**
 * Encrypts a merchant's secret for storage (D29). It is bound to the merchant: in another merchant's row it can't be decrypted.
 *
 * @param keys 32 bytes each; the first one encrypts
 * @throws Error when there is no key, or a key of another length
 */
export function encryptSecret(keys: readonly Buffer[], merchant: string, plaintext: string): Buffer {
  const key = keys[0];
  if (!key) throw new Error("no key to encrypt with");
  const header = Buffer.concat([Buffer.of(VERSION), toKeyId(key)]);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(toContext(header, merchant));
  const ciphertext = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), ciphertext]);
}

/**
 * Reads what `encryptSecret` wrote for this merchant.
 *
 * @throws Error when none of the keys encrypted it, or it was changed or belongs to another merchant; the message
 *   reveals nothing about the secret
 */
export function decryptSecret(keys: readonly Buffer[], merchant: string, stored: Uint8Array): string {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  if (bytes.length < PREFIX_BYTES || bytes[0] !== VERSION) throw new Error("not the form of a stored secret");
  const header = bytes.subarray(0, HEADER_BYTES);
  const key = keys.find((candidate) => toKeyId(candidate).equals(header.subarray(1)));
  if (!key) throw new Error("the key that encrypted this secret is not configured");

  const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, toKeyObject(key), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(toContext(header, merchant));
  decipher.setAuthTag(bytes.subarray(HEADER_BYTES + NONCE_BYTES, PREFIX_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(PREFIX_BYTES)), decipher.final()]).toString("utf8");
}

/** Whether the first key encrypted a stored secret. */
export function isCurrent([key]: readonly Buffer[], stored: Uint8Array): boolean {
  const header = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength).subarray(0, HEADER_BYTES);
  return key !== undefined && header[0] === VERSION && toKeyId(key).equals(header.subarray(1));
}

/** Identifies a key in encrypted secrets without disclosing it. */
export function toKeyId(key: Buffer): Buffer {
  const known = keyIds.get(key);
  if (known) return known;
  if (key.length !== KEY_BYTES)
    throw new Error(`an encryption key has ${KEY_BYTES} bytes, not ${key.length}`);
  const id = createHash("sha256").update("key id").update(key).digest().subarray(0, KEY_ID_BYTES);
  keyIds.set(key, id);
  return id;
}

function toKeyObject(key: Buffer): KeyObject {
  const known = keyObjects.get(key);
  if (known) return known;
  const made = createSecretKey(key);
  keyObjects.set(key, made);
  return made;
}

// Computed for each delivery, both would cost as much as sending it.
const keyIds = new WeakMap<Buffer, Buffer>();
const keyObjects = new WeakMap<Buffer, KeyObject>();

function toContext(header: Buffer, merchant: string): Buffer {
  return Buffer.concat([header, Buffer.from(merchant, "utf8")]);
}
