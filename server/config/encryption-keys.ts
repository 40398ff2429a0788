import { ConfigError, type Environment } from "./read.ts";

const KEY_BYTES = 32;
/** A random key with fewer different bytes than this is a thing that does not happen. */
const LEAST_DIFFERENT_BYTES = 16;

/** The keys of ENCRYPTION_KEY and, after it, of ENCRYPTION_KEYS_OLD; none when neither is set. Throws {@link ConfigError}. */
export function readEncryptionKeys(env: Environment): Buffer[] {
  const old = (env.ENCRYPTION_KEYS_OLD || "").split(",").filter((text) => text.trim() !== "");
  if (!env.ENCRYPTION_KEY) {
    if (old.length > 0) throw new ConfigError("ENCRYPTION_KEYS_OLD needs ENCRYPTION_KEY beside it.");
    return [];
  }
  return [
    decodeKey("ENCRYPTION_KEY", env.ENCRYPTION_KEY),
    ...old.map((text) => decodeKey("ENCRYPTION_KEYS_OLD", text)),
  ];
}

function decodeKey(name: string, text: string): Buffer {
  const key = Buffer.from(text.trim(), "base64");
  if (key.length !== KEY_BYTES) {
    throw new ConfigError(
      `${name} must be ${KEY_BYTES} bytes in base64. Make one with: openssl rand -base64 32`,
    );
  }
  return key;
}

/** Refuses a first key that was typed rather than made: all zeros, one byte repeated, bytes counted up. */
export function requireRandom([key]: readonly Buffer[]): void {
  if (!key) return;
  const steps = new Set(key.subarray(1).map((byte, index) => byte - (key[index] ?? 0)));
  if (new Set(key).size >= LEAST_DIFFERENT_BYTES && steps.size > 1) return;
  throw new ConfigError(
    "ENCRYPTION_KEY is not random, so it protects nothing. Make one with: openssl rand -base64 32",
  );
}
