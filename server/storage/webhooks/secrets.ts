import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { KEY_BYTES, seal, unseal, type WrappingKey } from "./wrapping-keys.ts";

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

type DataKey = {
  key: Buffer;
  wrapped: Buffer;
};

/** @param keys the first one encrypts, the others only decrypt */
export function createEncryptionKeys(keys: readonly WrappingKey[]): EncryptionKeys {
  const byMerchant = createCache<DataKey>();
  // Made for each delivery, a key object would cost as much as decrypting with it.
  const byWrapped = createCache<KeyObject>();
  const [first] = keys;

  async function createDataKey(): Promise<DataKey> {
    if (!first) throw new Error("no key to encrypt with");
    const key = randomBytes(KEY_BYTES);
    return { key, wrapped: await first.wrap(key) };
  }

  return {
    async encrypt(merchant, plaintext) {
      const { key, wrapped } = await byMerchant(merchant, createDataKey);
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
      const dataKey = await byWrapped(cacheKey, async () =>
        createSecretKey(await wrappingKey.unwrap(wrapped)),
      );
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

/** Concurrent lookups share one result; a failure is not remembered. */
function createCache<Value>() {
  const known = new Map<string, Promise<Value>>();
  return (name: string, create: () => Promise<Value>): Promise<Value> => {
    const present = known.get(name);
    if (present) return present;
    const [oldest] = known.keys();
    if (known.size >= MAX_DATA_KEYS && oldest !== undefined) known.delete(oldest);
    const created = create();
    known.set(name, created);
    created.catch(() => known.delete(name));
    return created;
  };
}
