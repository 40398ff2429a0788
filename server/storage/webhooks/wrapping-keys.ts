import { createCipheriv, createDecipheriv, createHash, type KeyObject, randomBytes } from "node:crypto";

/** Encrypts the data keys with which secrets are encrypted. */
export type WrappingKey = {
  /** 4 bytes that are stored beside what it has wrapped, and disclose nothing. */
  readonly id: Buffer;
  wrap(dataKey: Buffer): Promise<Buffer>;
  /** Rejects for anything that this key has not wrapped. */
  unwrap(wrapped: Buffer): Promise<Buffer>;
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
  return {
    id,
    wrap: async (dataKey) => seal(key, id, dataKey),
    unwrap: async (wrapped) => unseal(key, id, wrapped),
  };
}
