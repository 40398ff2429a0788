import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { ConfigError } from "../../server/config/read.ts";
import { readConfig } from "../../server/config.ts";

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

describe("the settings", () => {
  test("are those of a sandbox on this machine when nothing is set", () => {
    const expected = {
      host: "127.0.0.1",
      port: 3000,
      mode: "sandbox",
      databaseUrl: undefined,
      dataDir: resolve(".data"),
      encryptionKeys: [],
      auth: undefined,
      rateLimit: undefined,
      allowPrivateTargets: false,
      metricsPort: undefined,
      logLevel: "warn",
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
    };
    expect(readConfig(empty)).toEqual(expected);
  });

  test("are read from the environment", () => {
    const config = readConfig({
      HOST: "0.0.0.0",
      PORT: "8080",
      DATABASE_URL,
      DATA_DIR: "/var/lib/refunds",
      ENCRYPTION_KEY: `${KEY}\n`,
      ENCRYPTION_KEYS_OLD: `${OLD_KEY},${KEY}`,
      RATE_LIMIT: "5",
      METRICS_PORT: "9464",
      WEBHOOK_ALLOW_PRIVATE: "true",
      LOG_LEVEL: "debug",
    });

    expect(config).toEqual({
      host: "0.0.0.0",
      port: 8080,
      mode: "sandbox",
      databaseUrl: DATABASE_URL,
      dataDir: "/var/lib/refunds",
      encryptionKeys: [KEY, OLD_KEY, KEY].map((key) => Buffer.from(key, "base64")),
      auth: undefined,
      rateLimit: 5,
      allowPrivateTargets: true,
      metricsPort: 9464,
      logLevel: "debug",
    });
  });

  test("of production are the issuer's, and by default a rate limit and a log of every call", () => {
    expect(readConfig(PRODUCTION)).toEqual({
      host: "127.0.0.1",
      port: 3000,
      mode: "production",
      databaseUrl: DATABASE_URL,
      dataDir: resolve(".data"),
      encryptionKeys: [Buffer.from(RANDOM_KEY, "base64")],
      auth: {
        issuer: "https://issuer.example.com/",
        audience: "refunds-api",
        jwksUrl: new URL("https://issuer.example.com/keys"),
        algorithm: "ES256",
      },
      rateLimit: 100,
      allowPrivateTargets: false,
      metricsPort: undefined,
      logLevel: "info",
    });
  });

  test.each(["http://127.0.0.1:8080/keys", "http://localhost/keys", "http://[::1]:1/keys"])(
    "of production may name keys on this machine without TLS (%s)",
    (url) => {
      expect(readConfig({ ...PRODUCTION, AUTH_JWKS_URL: url }).auth?.jwksUrl.href).toBe(url);
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
    ["AUTH_ALGORITHM", { AUTH_ALGORITHM: "none" }],
    ["AUTH_ALGORITHM", { AUTH_ALGORITHM: "ES256,RS256" }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.alloc(32).toString("base64") }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.alloc(32, "secret").toString("base64") }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.from([...Array(32).keys()]).toString("base64") }],
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
    ["MODE", { MODE: "prod" }],
    ["MODE", { MODE: "Sandbox" }],
    ["DATABASE_URL", { DATABASE_URL: "mysql://localhost/refunds" }],
    ["DATABASE_URL", { DATABASE_URL: "localhost" }],
    ["ENCRYPTION_KEY", { DATABASE_URL }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: "secret" }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: Buffer.alloc(31).toString("base64") }],
    ["ENCRYPTION_KEY", { ENCRYPTION_KEY: "0".repeat(64) }],
    ["ENCRYPTION_KEYS_OLD", { ENCRYPTION_KEYS_OLD: OLD_KEY }],
    ["ENCRYPTION_KEYS_OLD", { ENCRYPTION_KEY: KEY, ENCRYPTION_KEYS_OLD: `${OLD_KEY},secret` }],
    ["RATE_LIMIT", { RATE_LIMIT: "0" }],
    ["RATE_LIMIT", { RATE_LIMIT: "-5" }],
    ["RATE_LIMIT", { RATE_LIMIT: "1.5" }],
    ["RATE_LIMIT", { RATE_LIMIT: "none" }],
    ["WEBHOOK_ALLOW_PRIVATE", { WEBHOOK_ALLOW_PRIVATE: "yes" }],
    ["LOG_LEVEL", { LOG_LEVEL: "loud" }],
  ])("are refused by the name of the one that is wrong (%s, %j)", (name, env) => {
    const read = () => readConfig(env);

    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name}\\b`));
  });

  test("that are secret are never repeated in what is said about them", () => {
    const password = "hunter2-hunter2";
    const wrong = [
      { ENCRYPTION_KEY: password },
      { ENCRYPTION_KEY: KEY, ENCRYPTION_KEYS_OLD: password },
      { DATABASE_URL: `mysql://user:${password}@localhost/refunds` },
    ];

    for (const env of wrong) {
      expect(() => readConfig(env)).toThrow(expect.not.stringContaining(password));
    }
  });
});
