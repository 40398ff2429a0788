import { resolve } from "node:path";
import { readDatabaseUrl, requireTls } from "./database-url.ts";
import { ConfigError, type Environment, readSecretFile, withSecretFiles } from "./environment.ts";

/** Reads the settings of the store. Throws {@link ConfigError}. */
export function readStoreSettings(env: Environment, { production }: { production: boolean }): StoreSettings {
  const databaseUrl = readDatabaseUrl(env);
  if (production && !databaseUrl) {
    throw new ConfigError(
      "DATABASE_URL is required in production (postgres://…): the embedded store does not survive a power cut.",
    );
  }
  const encryptionKeys = readEncryptionKeys(env);
  if (databaseUrl && encryptionKeys.length === 0) {
    throw new ConfigError(
      "ENCRYPTION_KEY is required with DATABASE_URL: every replica needs the same key. Make one with: openssl rand -base64 32",
    );
  }
  if (production) requireRandom(encryptionKeys);
  if (production && databaseUrl) requireTls(databaseUrl, env);
  const file = env.DATABASE_URL_FILE;
  const readDatabaseUrls = file ? () => readSecretFile("DATABASE_URL_FILE", file).split(/\r?\n/) : undefined;
  return { databaseUrl, readDatabaseUrls, dataDir: readDataDir(env.DATA_DIR || ".data"), encryptionKeys };
}

export type StoreSettings = {
  /** Unset: the embedded store in `dataDir`. */
  databaseUrl: string | undefined;
  /** Reads the file of DATABASE_URL_FILE, where it comes from one. */
  readDatabaseUrls: (() => readonly string[]) | undefined;
  /** A folder, or {@link IN_MEMORY}. */
  dataDir: string;
  /** The first encrypts, the others only decrypt. Empty: the embedded sandbox makes and keeps its own. */
  encryptionKeys: readonly Buffer[];
};

/** In place of a data folder: the embedded store is in memory, and gone when the process ends. */
export const IN_MEMORY = ":memory:";

/** 32 bytes in base64. */
const KEY_TEXT = /^[A-Za-z0-9+/_-]{43}=?$/;
/** A random key practically always has at least this many different bytes. */
const LEAST_DIFFERENT_BYTES = 16;

/** A hundred years. */
const MAX_RETENTION_DAYS = 36_500;

/** How many days events are kept; undefined: forever. Throws {@link ConfigError}. */
export function readRetentionDays(env: Environment): number | undefined {
  const text = env.RETENTION_DAYS || "90";
  if (text === "off") return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > MAX_RETENTION_DAYS) {
    throw new ConfigError(
      `RETENTION_DAYS must be a whole number of days from 1 to ${MAX_RETENTION_DAYS}, or "off", not "${text}".`,
    );
  }
  return value;
}

export type CommandSettings = {
  databaseUrl: string;
  /** The same as a server's, and at least one. Throws {@link ConfigError}. */
  requireEncryptionKeys(): readonly Buffer[];
  /** The same as a server's. Throws {@link ConfigError}. */
  retentionDays(): number | undefined;
};

/**
 * Reads the settings of an operator's command as production's server reads its own, because the command sends the same data
 * over the same network. Only those that it uses are required. Throws {@link ConfigError}.
 */
export function readCommandSettings(environment: Environment): CommandSettings {
  const env = withSecretFiles(environment);
  refuseUnverifiedTls(env);
  const databaseUrl = readDatabaseUrl(env);
  if (!databaseUrl) {
    throw new ConfigError(
      "DATABASE_URL is required (postgres://…). An embedded store belongs to the one server that has it open: there, use the calls of the sandbox.",
    );
  }
  requireTls(databaseUrl, env);
  const requireEncryptionKeys = () => {
    const keys = readEncryptionKeys(env);
    if (keys.length === 0) throw new ConfigError("ENCRYPTION_KEY is required: the key to encrypt with.");
    requireRandom(keys);
    return keys;
  };
  return { databaseUrl, requireEncryptionKeys, retentionDays: () => readRetentionDays(env) };
}

/** Throws {@link ConfigError} where the environment makes Node accept every certificate. */
export function refuseUnverifiedTls(env: Environment): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== "0") return;
  throw new ConfigError(
    "NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in production: an impostor could pose as the database or the token issuer.",
  );
}

function readDataDir(text: string): string {
  return text === IN_MEMORY ? IN_MEMORY : resolve(text);
}

/** The key of ENCRYPTION_KEY and those of ENCRYPTION_KEYS_OLD, in this order. Throws {@link ConfigError}. */
function readEncryptionKeys(env: Environment): Buffer[] {
  const current = env.ENCRYPTION_KEY ? [decodeKey("ENCRYPTION_KEY", env.ENCRYPTION_KEY.trim())] : [];
  const old = (env.ENCRYPTION_KEYS_OLD || "").split(/[\s,]+/).filter((text) => text !== "");
  if (current.length === 0 && old.length > 0)
    throw new ConfigError("ENCRYPTION_KEYS_OLD requires ENCRYPTION_KEY.");
  return [...current, ...old.map((text) => decodeKey("ENCRYPTION_KEYS_OLD", text))];
}

function decodeKey(name: "ENCRYPTION_KEY" | "ENCRYPTION_KEYS_OLD", text: string): Buffer {
  // Node ignores whatever follows the first `=`.
  if (KEY_TEXT.test(text)) return Buffer.from(text, "base64");
  throw new ConfigError(
    name === "ENCRYPTION_KEY"
      ? `${name} must be 32 bytes in base64, and nothing else. Make one with: openssl rand -base64 32`
      : `${name} must be keys of 32 bytes in base64, with commas or new lines between them, and nothing else.`,
  );
}

/** Refuses a first key that was typed rather than made: all zeros, one byte repeated, bytes counted up. */
function requireRandom([first]: readonly Buffer[]): void {
  if (!first) return;
  const steps = new Set(first.subarray(1).map((byte, index) => byte - (first[index] ?? 0)));
  if (new Set(first).size >= LEAST_DIFFERENT_BYTES && steps.size > 1) return;
  throw new ConfigError(
    "ENCRYPTION_KEY is not random, so it protects nothing. Make one with: openssl rand -base64 32",
  );
}
