import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../../../server/config/config.ts";
import { ConfigError } from "../../../../server/config/environment.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
const RANDOM_KEY = randomBytes(32).toString("base64");
const OLD_KEY = Buffer.alloc(32, 2).toString("base64");
const DATABASE_URL = "postgres://user@localhost/refunds";
const PRODUCTION = {
  MODE: "production",
  DATABASE_URL,
  ENCRYPTION_KEY: RANDOM_KEY,
  AUTH_ISSUER: "https://issuer.example.com/",
  AUTH_AUDIENCE: "refunds-api",
  AUTH_JWKS_URL: "https://issuer.example.com/keys",
  AUTH_ALGORITHM: "ES256",
};

const toSetting = (text: string) => ({ key: Buffer.from(text, "base64") });

describe("the settings", () => {
  test("are those of a sandbox on this machine when nothing is set", () => {
    const expected = {
      host: "127.0.0.1",
      port: 3000,
      maxConnections: expect.any(Number),
      stopDelaySeconds: 0,
      mode: "sandbox",
      databaseUrl: undefined,
      dataDir: resolve(".data"),
      encryptionKeys: [],
      auth: undefined,
      rateLimit: undefined,
      allowPrivateTargets: false,
      metricsPort: undefined,
      logLevel: "info",
      logFormat: "text",
      serveDocs: true,
      egress: {},
      tomorrowSeed: undefined,
      retentionDays: 90,
    };

    expect(readConfig({})).toEqual(expected);
    const empty = {
      HOST: "",
      PORT: "",
      MODE: "",
      DATABASE_URL: "",
      DATA_DIR: "",
      ENCRYPTION_KEY: "",
      RATE_LIMIT: "",
      RETENTION_DAYS: "",
    };
    expect(readConfig(empty)).toEqual(expected);
  });

  test("can keep finished deliveries and past events for good", () => {
    expect(readConfig({ RETENTION_DAYS: "off" }).retentionDays).toBeUndefined();
  });

  test("are read from the environment", () => {
    const config = readConfig({
      HOST: "0.0.0.0",
      PORT: "8080",
      MAX_CONNECTIONS: "100",
      STOP_DELAY: "20",
      DATABASE_URL,
      DATA_DIR: "/var/lib/refunds",
      ENCRYPTION_KEY: `${KEY}\n`,
      ENCRYPTION_KEYS_OLD: `${OLD_KEY},${KEY}`,
      RATE_LIMIT: "5",
      PROBE_PORT: "9463",
      METRICS_PORT: "9464",
      WEBHOOK_ALLOW_PRIVATE: "true",
      LOG_LEVEL: "debug",
      LOG_FORMAT: "json",
      RETENTION_DAYS: "30",
    });

    expect(config).toEqual({
      host: "0.0.0.0",
      port: 8080,
      maxConnections: 100,
      stopDelaySeconds: 20,
      mode: "sandbox",
      databaseUrl: DATABASE_URL,
      dataDir: "/var/lib/refunds",
      encryptionKeys: [KEY, OLD_KEY, KEY].map(toSetting),
      auth: undefined,
      rateLimit: 5,
      allowPrivateTargets: true,
      probePort: 9463,
      metricsPort: 9464,
      logLevel: "debug",
      serveDocs: true,
      egress: {},
      logFormat: "json",
      tomorrowSeed: undefined,
      retentionDays: 30,
    });
  });

  test("of production are the issuer's, and by default a rate limit and a log of every call", () => {
    expect(readConfig(PRODUCTION)).toEqual({
      host: "127.0.0.1",
      port: 3000,
      maxConnections: expect.any(Number),
      stopDelaySeconds: 0,
      mode: "production",
      databaseUrl: DATABASE_URL,
      dataDir: resolve(".data"),
      encryptionKeys: [toSetting(RANDOM_KEY)],
      auth: {
        issuer: "https://issuer.example.com/",
        audience: "refunds-api",
        jwksUrl: new URL("https://issuer.example.com/keys"),
        algorithm: "ES256",
        maxLifetimeSeconds: 86_400,
        keysMaxAgeSeconds: 86_400,
        clientCertHeader: undefined,
      },
      rateLimit: 100,
      allowPrivateTargets: false,
      metricsPort: undefined,
      logLevel: "info",
      serveDocs: true,
      egress: {},
      logFormat: "json",
      tomorrowSeed: undefined,
      retentionDays: 90,
    });
  });

  test.each(["http://127.0.0.1:8080/keys", "http://localhost/keys", "http://[::1]:1/keys"])(
    "of production may name keys on this machine without TLS (%s)",
    (url) => {
      expect(readConfig({ ...PRODUCTION, AUTH_JWKS_URL: url }).auth?.jwksUrl.href).toBe(url);
    },
  );

  test.each<Record<string, string>>([
    { DATABASE_URL: "postgres://user@db.internal/refunds?sslmode=verify-full" },
    { DATABASE_URL: "postgres://user@db.internal/refunds?sslmode=require" },
    { DATABASE_URL: "postgres://user@db.internal/refunds", DATABASE_ALLOW_PLAINTEXT: "true" },
    { DATABASE_URL: "postgres://user@[::1]/refunds" },
    { DATABASE_URL: "postgres://user@/refunds?host=/run/postgresql" },
  ])(
    "of production may name a database on this machine, over TLS, or that the operator allows (%j)",
    (env) => {
      expect(readConfig({ ...PRODUCTION, ...env }).databaseUrl).toBe(env.DATABASE_URL);
    },
  );

  test.each<[name: string, env: Record<string, string>]>([
    ...Object.keys(PRODUCTION)
      .filter((name) => name !== "MODE")
      .map((name): [string, Record<string, string>] => [name, { [name]: "" }]),
    ["AUTH_ISSUER", { AUTH_ISSUER: " " }],
    ["AUTH_JWKS_URL", { AUTH_JWKS_URL: "keys" }],
    ["AUTH_JWKS_URL", { AUTH_JWKS_URL: "file:///etc/keys" }],
    ["AUTH_JWKS_URL", { AUTH_JWKS_URL: "http://issuer.example.com/keys" }],
    ["AUTH_JWKS_URL", { AUTH_JWKS_URL: "http://127.0.0.1.example.com/keys" }],
    ["AUTH_JWKS_URL", { AUTH_JWKS_URL: "https://user:password@issuer.example.com/keys" }],
    ["AUTH_ALGORITHM", { AUTH_ALGORITHM: "HS256" }],
    ["AUTH_MAX_LIFETIME", { AUTH_MAX_LIFETIME: "0" }],
    ["AUTH_MAX_LIFETIME", { AUTH_MAX_LIFETIME: "1h" }],
    ["AUTH_KEYS_MAX_AGE", { AUTH_KEYS_MAX_AGE: "0" }],
    ["AUTH_CLIENT_CERT_HEADER", { AUTH_CLIENT_CERT_HEADER: "Client-Cert: x" }],
    ["CALLER_ADDRESS_HEADER", { CALLER_ADDRESS_HEADER: "X-Forwarded-For, Forwarded" }],
    ["AUTH_ALGORITHM", { AUTH_ALGORITHM: "none" }],
    ["AUTH_ALGORITHM", { AUTH_ALGORITHM: "ES256,RS256" }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.alloc(32).toString("base64") }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.alloc(32, "secret").toString("base64") }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.from([...Array(32).keys()]).toString("base64") }],
    ["DATABASE_URL", { DATABASE_URL: "postgres://user@db.internal/refunds" }],
    ["DATABASE_URL", { DATABASE_URL: "postgres://user@db.internal/refunds?sslmode=disable" }],
    ["DATABASE_URL", { DATABASE_URL: "postgres://user@db.internal/refunds?sslmode=no-verify" }],
    ["DATABASE_URL", { DATABASE_URL: "postgres://user@127.0.0.1.example.com/refunds" }],
    ["DATABASE_URL", { DATABASE_URL: "postgres://user@localhost/refunds?host=db.internal" }],
    ["WEBHOOK_ALLOW_PRIVATE", { WEBHOOK_ALLOW_PRIVATE: "true" }],
    ["NODE_TLS_REJECT_UNAUTHORIZED", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }],
    ["METRICS_PORT", { METRICS_PORT: "metrics" }],
  ])("of production are refused by the name of the one that is missing or unsafe (%s, %j)", (name, env) => {
    const read = () => readConfig({ ...PRODUCTION, ...env });

    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name}\\b`));
  });

  /** @decision D24 */
  test.each([
    ["PORT", { PORT: "http" }],
    ["PORT", { PORT: "-1" }],
    ["PORT", { PORT: "65536" }],
    ["PORT", { PORT: "80.5" }],
    ["PORT", { PORT: " 80" }],
    ["PORT", { PORT: "1e3" }],
    ["HIGH_WATER_MARK_FILE", { HIGH_WATER_MARK_FILE: "/var/lib/refunds/mark.json" }],
    ["MAX_CONNECTIONS", { MAX_CONNECTIONS: "0" }],
    ["MAX_CONNECTIONS", { MAX_CONNECTIONS: "9999999999" }],
    ["STOP_DELAY", { STOP_DELAY: "301" }],
    ["STOP_DELAY", { STOP_DELAY: "1s" }],
    ["MODE", { MODE: "prod" }],
    ["MODE", { MODE: "Sandbox" }],
    ["DATABASE_URL", { DATABASE_URL: "mysql://localhost/refunds" }],
    ["DATABASE_URL", { DATABASE_URL: "localhost" }],
    ["DATABASE_URL", { DATABASE_URL: "postgres://user@one:5432,two:5432/refunds" }],
    ["ENCRYPTION_KEY", { DATABASE_URL }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: "secret" }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.alloc(31).toString("base64") }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: "0".repeat(64) }],
    ["ENCRYPTION_KEYS_OLD", { ENCRYPTION_KEYS_OLD: OLD_KEY }],
    ["ENCRYPTION_KEYS_OLD", { ENCRYPTION_KEY: KEY, ENCRYPTION_KEYS_OLD: `${OLD_KEY},secret` }],
    ["RATE_LIMIT", { RATE_LIMIT: "0" }],
    ["TOMORROW", { TOMORROW: "2147483648" }],
    ["TOMORROW", { ...PRODUCTION, TOMORROW: "7" }],
    ["RATE_LIMIT", { RATE_LIMIT: "-5" }],
    ["RATE_LIMIT", { RATE_LIMIT: "1.5" }],
    ["RATE_LIMIT", { RATE_LIMIT: "none" }],
    ["WEBHOOK_ALLOW_PRIVATE", { WEBHOOK_ALLOW_PRIVATE: "yes" }],
    ["LOG_LEVEL", { LOG_LEVEL: "loud" }],
    ["SERVE_DOCS", { SERVE_DOCS: "yes" }],
    ["LOG_FORMAT", { LOG_FORMAT: "xml" }],
    ["RETENTION_DAYS", { RETENTION_DAYS: "0" }],
    ["RETENTION_DAYS", { RETENTION_DAYS: "1.5" }],
    ["RETENTION_DAYS", { RETENTION_DAYS: "36501" }],
    ["RETENTION_DAYS", { RETENTION_DAYS: "never" }],
  ])("are refused by the name of the one that is wrong (%s, %j)", (name, env) => {
    const read = () => readConfig(env);

    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name}\\b`));
  });
});
