import { resolve } from "node:path";
import { type AuthSettings, readAuth } from "./config/auth.ts";
import { readEncryptionKeys, requireRandom } from "./config/encryption-keys.ts";
import { ConfigError, type Environment, oneOf, port } from "./config/read.ts";

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
  /** Whose access tokens are verified; undefined: the sandbox, which issues its own (D18). */
  auth: AuthSettings | undefined;
  /** Calls a second for each merchant, twice as many in a burst; undefined: no limit (D27). */
  rateLimit: number | undefined;
  /** Whether webhook targets may lie in private ranges (sandbox only, D24). */
  allowPrivateTargets: boolean;
  /** Where `/metrics` is served; undefined: nowhere. */
  metricsPort: number | undefined;
  logLevel: string;
}

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/** Reads and checks every setting. Throws {@link ConfigError} on the first one that is wrong. */
export function readConfig(env: Environment): Config {
  const mode = oneOf(env, "MODE", ["sandbox", "production"] as const, "sandbox");
  const production = mode === "production";
  if (production) refuseUnsafe(env);
  return {
    host: env.HOST || "127.0.0.1",
    port: port("PORT", env.PORT || "3000"),
    mode,
    ...readStoreSettings(env, { required: production }),
    auth: production ? readAuth(env) : undefined,
    rateLimit: rateLimit(env.RATE_LIMIT || (production ? "100" : "off")),
    allowPrivateTargets: allowsPrivateTargets(env),
    metricsPort: env.METRICS_PORT ? port("METRICS_PORT", env.METRICS_PORT) : undefined,
    // A sandbox is read by people, who want the addresses it prints and not a line for each call.
    logLevel: oneOf(env, "LOG_LEVEL", LOG_LEVELS, production ? "info" : "warn"),
  };
}

/** Where the data is, and the keys to the secrets in it. */
export function readStoreSettings(
  env: Environment,
  { required }: { required: boolean },
): Pick<Config, "databaseUrl" | "dataDir" | "encryptionKeys"> {
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
  return { databaseUrl, dataDir: resolve(env.DATA_DIR || ".data"), encryptionKeys };
}

/** The address of the PostgreSQL database; undefined when there is none. Throws {@link ConfigError}. */
export function readDatabaseUrl(url: string | undefined): string | undefined {
  if (!url) return undefined;
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new ConfigError("DATABASE_URL must begin with postgres:// or be unset.");
  }
  return url;
}

function allowsPrivateTargets(env: Environment): boolean {
  return oneOf(env, "WEBHOOK_ALLOW_PRIVATE", ["true", "false"] as const, "false") === "true";
}

function refuseUnsafe(env: Environment): void {
  if (allowsPrivateTargets(env)) {
    throw new ConfigError(
      "WEBHOOK_ALLOW_PRIVATE must not be set in production: webhooks would reach private networks.",
    );
  }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
    throw new ConfigError(
      "NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in production: nobody could tell the token issuer from an impostor.",
    );
  }
}

function rateLimit(text: string): number | undefined {
  if (text === "off") return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) {
    throw new ConfigError(`RATE_LIMIT must be a whole number of calls a second, or "off", not "${text}".`);
  }
  return value;
}
