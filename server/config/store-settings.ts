import { resolve } from "node:path";
import { ConfigError, type Environment, oneOf } from "./environment.ts";

/** Where the data is, and the keys of the secrets in it. */
export interface StoreSettings {
  /** Unset: the embedded store in `dataDir`. */
  databaseUrl: string | undefined;
  /** A folder, or {@link IN_MEMORY}. */
  dataDir: string;
  /** 32 bytes each; the first encrypts, the others only decrypt. Empty: the embedded sandbox makes and keeps its own. */
  encryptionKeys: readonly Buffer[];
}

/** In place of a data folder: the embedded store is in memory, and gone when the process ends. */
export const IN_MEMORY = ":memory:";

const KEY_BYTES = 32;
/** A random key practically always has at least this many different bytes. */
const LEAST_DIFFERENT_BYTES = 16;

/** Reads the settings of the store. Throws {@link ConfigError}. */
export function readStoreSettings(env: Environment, { required }: { required: boolean }): StoreSettings {
  const databaseUrl = readDatabaseUrl(env.DATABASE_URL);
  if (required && !databaseUrl) {
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
  if (required) requireRandom(encryptionKeys);
  if (required && databaseUrl) requireTls(databaseUrl, env);
  return { databaseUrl, dataDir: readDataDir(env.DATA_DIR || ".data"), encryptionKeys };
}

function readDataDir(text: string): string {
  return text === IN_MEMORY ? IN_MEMORY : resolve(text);
}

/** The driver, unlike the standard, also reads an address with a user and no host, which names a socket of this machine. */
function parseAddress(url: string): URL | null {
  return URL.parse(url.replace("@/", "@localhost/"));
}

/** The address of the PostgreSQL database; undefined when there is none. Throws {@link ConfigError}. */
export function readDatabaseUrl(url: string | undefined): string | undefined {
  if (!url) return undefined;
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new ConfigError("DATABASE_URL must begin with postgres:// or be unset.");
  }
  if (!parseAddress(url)) {
    throw new ConfigError(
      "DATABASE_URL must be an address with one host, such as postgres://user@host:5432/name.",
    );
  }
  return url;
}

const LOCAL_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|)$/;
/** The modes in which the driver verifies the server's certificate. */
const TLS_MODES = ["require", "verify-ca", "verify-full"];

/** Refuses to send payments and secrets over a network without TLS, unless the operator says that the network is safe. */
function requireTls(databaseUrl: string, env: Environment): void {
  const allowed = oneOf(env, "DATABASE_ALLOW_PLAINTEXT", ["true", "false"] as const, "false") === "true";
  const address = parseAddress(databaseUrl);
  const host = address?.searchParams.get("host") ?? decodeURIComponent(address?.hostname ?? "");
  const isLocal = LOCAL_HOST.test(host) || host.startsWith("/"); // a folder means a local socket
  if (allowed || isLocal || TLS_MODES.includes(address?.searchParams.get("sslmode") ?? "")) return;
  throw new ConfigError(
    `DATABASE_URL must end with ?sslmode=verify-full in production, because ${host} is another machine. Where the network protects the connection, set DATABASE_ALLOW_PLAINTEXT=true.`,
  );
}

/** The keys of ENCRYPTION_KEY and, after it, of ENCRYPTION_KEYS_OLD; none when neither is set. Throws {@link ConfigError}. */
export function readEncryptionKeys(env: Environment): Buffer[] {
  const old = (env.ENCRYPTION_KEYS_OLD || "").split(",").filter((text) => text.trim() !== "");
  if (!env.ENCRYPTION_KEY) {
    if (old.length > 0) throw new ConfigError("ENCRYPTION_KEYS_OLD requires ENCRYPTION_KEY.");
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
function requireRandom([key]: readonly Buffer[]): void {
  if (!key) return;
  const steps = new Set(key.subarray(1).map((byte, index) => byte - (key[index] ?? 0)));
  if (new Set(key).size >= LEAST_DIFFERENT_BYTES && steps.size > 1) return;
  throw new ConfigError(
    "ENCRYPTION_KEY is not random, so it protects nothing. Make one with: openssl rand -base64 32",
  );
}
