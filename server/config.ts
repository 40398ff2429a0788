import { resolve } from "node:path";

/** The settings of a server, read from the environment once. */
export interface Config {
  host: string;
  port: number;
  mode: "sandbox" | "production";
  /** Unset: the embedded store in `dataDir`. */
  databaseUrl: string | undefined;
  dataDir: string;
  /** 32 bytes each; the first encrypts, the others only decrypt. Empty: the embedded sandbox makes and keeps its own. */
  encryptionKeys: readonly Buffer[];
  /** Calls a second for each merchant, twice as many in a burst; undefined: no limit (D27). */
  rateLimit: number | undefined;
  /** Whether webhook targets may lie in private ranges (sandbox only, D24). */
  allowPrivateTargets: boolean;
  logLevel: string;
}

/** A setting that is missing, malformed or unsafe; the message names the variable and the remedy. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/** Reads and checks every setting. Throws {@link ConfigError} on the first one that is wrong. */
export function readConfig(env: Environment): Config {
  const mode = oneOf(env, "MODE", ["sandbox", "production"] as const, "sandbox");
  const config: Config = {
    host: env.HOST || "127.0.0.1",
    port: port(env),
    mode,
    databaseUrl: databaseUrl(env),
    dataDir: resolve(env.DATA_DIR || ".data"),
    encryptionKeys: encryptionKeys(env),
    rateLimit: rateLimit(env, mode),
    allowPrivateTargets: oneOf(env, "WEBHOOK_ALLOW_PRIVATE", ["true", "false"] as const, "false") === "true",
    // A sandbox is read by people, who want the addresses it prints and not a line for each call.
    logLevel: oneOf(env, "LOG_LEVEL", LOG_LEVELS, mode === "sandbox" ? "warn" : "info"),
  };
  if (config.databaseUrl && config.encryptionKeys.length === 0) {
    throw new ConfigError(
      "ENCRYPTION_KEY is required with DATABASE_URL: every replica needs the same key. Make one with: openssl rand -base64 32",
    );
  }
  if (mode === "production") refuseUnsafe(config);
  return config;
}

function refuseUnsafe(config: Config): void {
  if (!config.databaseUrl) {
    throw new ConfigError(
      "DATABASE_URL is required in production (postgres://…): the embedded store does not survive a power cut.",
    );
  }
  if (config.allowPrivateTargets) {
    throw new ConfigError(
      "WEBHOOK_ALLOW_PRIVATE must not be set in production: webhooks would reach private networks.",
    );
  }
  throw new ConfigError(
    "MODE=production can't start yet: this release has no verification of production access tokens (AUTH_ISSUER). Use MODE=sandbox.",
  );
}

function oneOf<const T extends string>(env: Environment, name: string, values: readonly T[], fallback: T): T {
  const value = env[name] || fallback;
  const known = values.find((candidate) => candidate === value);
  if (known === undefined)
    throw new ConfigError(`${name} must be one of ${values.join(", ")}, not "${value}".`);
  return known;
}

function port(env: Environment): number {
  const text = env.PORT || "3000";
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65535) {
    throw new ConfigError(`PORT must be a number from 0 to 65535, not "${text}".`);
  }
  return value;
}

function databaseUrl(env: Environment): string | undefined {
  const url = env.DATABASE_URL;
  if (!url) return undefined;
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new ConfigError("DATABASE_URL must begin with postgres:// or be unset.");
  return url;
}

function encryptionKeys(env: Environment): Buffer[] {
  const old = (env.ENCRYPTION_KEYS_OLD || "").split(",").filter((text) => text !== "");
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
  if (key.length !== 32) {
    throw new ConfigError(`${name} must be 32 bytes in base64. Make one with: openssl rand -base64 32`);
  }
  return key;
}

function rateLimit(env: Environment, mode: Config["mode"]): number | undefined {
  const text = env.RATE_LIMIT || (mode === "production" ? "100" : "off");
  if (text === "off") return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) {
    throw new ConfigError(`RATE_LIMIT must be a whole number of calls a second, or "off", not "${text}".`);
  }
  return value;
}
