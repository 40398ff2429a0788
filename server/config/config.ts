import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  readRetentionDays,
  readStoreSettings,
  refuseUnverifiedTls,
  type StoreSettings,
} from "./database-and-retention.ts";
import { ConfigError, type Environment, oneOf, port, withSecretFiles } from "./environment.ts";
import { type EgressSettings, readEgress } from "./webhook-egress.ts";

/**
 * Reads and checks every setting of a server, from its environment; `settings.env` explains each.
 * Throws {@link ConfigError} on the first one that is wrong.
 */
export function readConfig(environment: Environment): Config {
  const env = withSecretFiles(environment);
  const mode = oneOf(env, "MODE", ["sandbox", "production"] as const, "sandbox");
  const production = mode === "production";
  if (production) refuseUnsafe(env);
  return {
    host: env.HOST || "127.0.0.1",
    port: port("PORT", env.PORT || "3000"),
    maxConnections: readMaxConnections(env),
    stopDelaySeconds: stopDelaySeconds(env.STOP_DELAY || "0"),
    mode,
    ...readStoreSettings(env, { production }),
    callerAddressHeader: headerName("CALLER_ADDRESS_HEADER", env.CALLER_ADDRESS_HEADER, "X-Forwarded-For"),
    auth: production ? readAuth(env) : undefined,
    rateLimit: rateLimit(env.RATE_LIMIT || (production ? "100" : "off")),
    allowPrivateTargets: allowsPrivateTargets(env, production),
    probePort: env.PROBE_PORT ? port("PROBE_PORT", env.PROBE_PORT) : undefined,
    egress: readEgress(env),
    metricsPort: env.METRICS_PORT ? port("METRICS_PORT", env.METRICS_PORT) : undefined,
    logLevel: oneOf(env, "LOG_LEVEL", LOG_LEVELS, "info"),
    // A sandbox's log is read by people, production's by programs.
    logFormat: oneOf(env, "LOG_FORMAT", ["json", "text"] as const, production ? "json" : "text"),
    serveDocs: oneOf(env, "SERVE_DOCS", ["true", "false"] as const, "true") === "true",
    highWaterMarkFile: highWaterMarkFile(env.HIGH_WATER_MARK_FILE, production),
    retentionDays: readRetentionDays(env),
  };
}

/** Descriptors that are kept for the database, deliveries, the issuer, files and the log; at most half of all. */
const KEPT_DESCRIPTORS = 1_024;
/** Far more than replicas behind a proxy have, and few enough to fit into memory. */
const DEFAULT_CONNECTIONS = 10_000;
/** The default of most systems. */
const USUAL_LIMIT = 1_024;

/** The most connections of callers that leave descriptors for everything else. Throws {@link ConfigError}. */
export function readMaxConnections(env: Environment, limit = readDescriptorLimit()): number {
  const most = limit - Math.min(KEPT_DESCRIPTORS, Math.ceil(limit / 2));
  const text = env.MAX_CONNECTIONS;
  if (!text) return Math.min(DEFAULT_CONNECTIONS, most);
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new ConfigError(`MAX_CONNECTIONS must be a whole number of connections, not "${text}".`);
  if (Number(text) <= most) return Number(text);
  throw new ConfigError(
    `MAX_CONNECTIONS must be at most ${most}, because this process may have ${limit} open files and needs some itself: raise that limit (ulimit -n, LimitNOFILE), or lower the setting.`,
  );
}

/** Read on Linux; elsewhere, the usual limit is assumed. */
function readDescriptorLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined ? USUAL_LIMIT : Number(soft);
  } catch {
    return USUAL_LIMIT;
  }
}

/** The settings of a server, read from the environment once. */
export type Config = StoreSettings & {
  host: string;
  port: number;
  /** How many connections callers may have open at a time. */
  maxConnections: number;
  /** For how long a stopping server still serves while it is not ready, so that balancers notice. */
  stopDelaySeconds: number;
  mode: "sandbox" | "production";
  /** The header in which a trusted proxy sends the caller's address, in lower case; undefined without such a proxy. */
  callerAddressHeader: string | undefined;
  /** Whose access tokens are verified; undefined: the sandbox, which issues its own (D18). */
  auth: AuthSettings | undefined;
  /** Calls a second for each merchant, twice as many in a burst; undefined: no limit (D27). */
  rateLimit: number | undefined;
  /** Whether webhook targets may lie in private ranges (sandbox only, D24). */
  allowPrivateTargets: boolean | "names and http";
  /** A second port for probes; undefined: they are served on the port of the callers alone. */
  probePort: number | undefined;
  egress: EgressSettings;
  /** The port on which `/metrics` is served; undefined: not served. */
  metricsPort: number | undefined;
  logLevel: string;
  /** Whether `/docs` is served, and `/` redirects browsers to it. */
  serveDocs: boolean;
  /** One JSON object for each line, or text for people. */
  logFormat: "json" | "text";
  /** Names the newest records, by which a server notices a restore when it starts; undefined: only while it runs. */
  highWaterMarkFile: string | undefined;
  /** Days that finished deliveries and past events are kept; undefined: forever. */
  retentionDays: number | undefined;
};

/** Whose access tokens production accepts, and how it checks them (D18). */
export type AuthSettings = {
  /** The `iss` of a token, character for character. */
  issuer: string;
  /** One of the values in the `aud` of a token. */
  audience: string;
  jwksUrl: URL;
  /** The only algorithm that is accepted, whatever the header of a token says. */
  algorithm: "ES256" | "RS256";
  /** How long a token may be valid: from its `iat`, if it has one, and from now on. */
  maxLifetimeSeconds: number;
  /** How long the keys of the last successful fetch are trusted. */
  keysMaxAgeSeconds: number;
  /** The header in which a trusted proxy sends the caller's certificate, in lower case; undefined without such a proxy. */
  clientCertHeader: string | undefined;
};

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

/** A sandbox is a test tool, often on a network of containers. */
function allowsPrivateTargets(env: Environment, production: boolean): Config["allowPrivateTargets"] {
  if (!env.WEBHOOK_ALLOW_PRIVATE) return production ? false : "names and http";
  return oneOf(env, "WEBHOOK_ALLOW_PRIVATE", ["true", "false"] as const, "false") === "true";
}

function refuseUnsafe(env: Environment): void {
  if (allowsPrivateTargets(env, true)) {
    throw new ConfigError(
      "WEBHOOK_ALLOW_PRIVATE must not be set in production: webhooks would reach private networks.",
    );
  }
  refuseUnverifiedTls(env);
  // Node reads underscores as hyphens.
  const options = [env.NODE_OPTIONS, ...process.execArgv].join(" ").replaceAll("_", "-");
  const [option] = UNSAFE_OPTIONS.exec(options) ?? [];
  if (option !== undefined)
    throw new ConfigError(
      `NODE_OPTIONS must not have ${option} in production: it lets others in, or weakens what HTTP and TLS refuse.`,
    );
}

/** Of Node: an inspector, what writes memory or keys to files, and what reads HTTP or TLS less strictly. */
const UNSAFE_OPTIONS =
  /--(inspect[\w-]*|insecure-http-parser|tls-\S+|trace-tls|security-revert|http-parser=\S+|max-http-header-size|openssl-legacy-provider|heapsnapshot-signal)/;

function highWaterMarkFile(file: string | undefined, production: boolean): string | undefined {
  if (!file) return undefined;
  if (production) return resolve(file);
  throw new ConfigError("HIGH_WATER_MARK_FILE is for production: a sandbox loses its data when it is reset.");
}

function rateLimit(text: string): number | undefined {
  if (text === "off") return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1)
    throw new ConfigError(`RATE_LIMIT must be a whole number of calls a second, or "off", not "${text}".`);
  return value;
}

/** Reads the settings of access tokens, each of which is required. Throws {@link ConfigError}. */
function readAuth(env: Environment): AuthSettings {
  return {
    issuer: required(env, "AUTH_ISSUER", "the iss claim of the access tokens"),
    audience: required(env, "AUTH_AUDIENCE", "the aud claim of the access tokens"),
    jwksUrl: jwksUrl(required(env, "AUTH_JWKS_URL", "the address of the issuer's public keys")),
    algorithm: algorithm(env),
    maxLifetimeSeconds: seconds("AUTH_MAX_LIFETIME", env.AUTH_MAX_LIFETIME || "86400"),
    keysMaxAgeSeconds: seconds("AUTH_KEYS_MAX_AGE", env.AUTH_KEYS_MAX_AGE || "86400", LEAST_KEYS_MAX_AGE),
    clientCertHeader: headerName("AUTH_CLIENT_CERT_HEADER", env.AUTH_CLIENT_CERT_HEADER, "Client-Cert"),
  };
}

function required(env: Environment, name: string, what: string): string {
  const value = env[name]?.trim();
  if (!value) throw new ConfigError(`${name} is required in production: ${what}.`);
  return value;
}

/** Keys fetched without TLS could be anybody's, so plain HTTP is allowed only for this machine. */
function jwksUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.username || url?.password) throw new ConfigError("AUTH_JWKS_URL must not contain credentials.");
  if (url?.protocol === "https:" || (url?.protocol === "http:" && LOOPBACK.test(url.hostname))) return url;
  throw new ConfigError("AUTH_JWKS_URL must be an https:// address (http:// only to this machine itself).");
}

function algorithm(env: Environment): AuthSettings["algorithm"] {
  required(env, "AUTH_ALGORITHM", "ES256 or RS256, whichever the issuer signs with");
  return oneOf(env, "AUTH_ALGORITHM", ["ES256", "RS256"] as const, "ES256");
}

/** Several times the pause between two fetches: with less, most calls would have no key that is trusted. */
const LEAST_KEYS_MAX_AGE = 60;

function seconds(name: string, text: string, least = 1): number {
  if (/^\d{1,10}$/.test(text) && Number(text) >= least) return Number(text);
  throw new ConfigError(`${name} must be a whole number of seconds, at least ${least}, not "${text}".`);
}

/** Five minutes. */
const MAX_STOP_DELAY_SECONDS = 300;

function stopDelaySeconds(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= MAX_STOP_DELAY_SECONDS) return Number(text);
  throw new ConfigError(
    `STOP_DELAY must be a whole number of seconds from 0 to ${MAX_STOP_DELAY_SECONDS}, not "${text}".`,
  );
}

function headerName(name: string, text: string | undefined, example: string): string | undefined {
  if (!text) return undefined;
  if (/^[A-Za-z0-9-]{1,64}$/.test(text)) return text.toLowerCase();
  throw new ConfigError(`${name} must be the name of a header, such as ${example}, not "${text}".`);
}
