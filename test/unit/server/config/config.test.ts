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

const DEFAULTS = {
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
  allowPrivateTargets: "names and http",
  metricsPort: undefined,
  logLevel: "info",
  logFormat: "text",
  serveDocs: true,
  egress: {},
  retentionDays: 90,
};

const toSetting = (text: string) => Buffer.from(text, "base64");

/** Each name with each of its values. */
const pairsOf = (values: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(values).flatMap(([name, texts]) => texts.map((text): [string, string] => [name, text]));

function expectRefusal(name: string, env: Readonly<Record<string, string>>): void {
  expect(() => readConfig(env)).toThrow(ConfigError);
  expect(() => readConfig(env)).toThrow(new RegExp(`^${name}\\b`));
}

describe("the settings", () => {
  test("are those of a sandbox on this machine when nothing is set", () => {
    const empty = { HOST: "", PORT: "", MODE: "", DATABASE_URL: "", DATA_DIR: "", ENCRYPTION_KEY: "" };

    expect(readConfig({})).toEqual(DEFAULTS);
    expect(readConfig({ ...empty, RATE_LIMIT: "", RETENTION_DAYS: "" })).toEqual(DEFAULTS);
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
      WEBHOOK_ALLOW_PRIVATE: "false",
      LOG_LEVEL: "debug",
      LOG_FORMAT: "json",
      RETENTION_DAYS: "30",
    });

    expect(config).toEqual({
      ...DEFAULTS,
      host: "0.0.0.0",
      port: 8080,
      maxConnections: 100,
      stopDelaySeconds: 20,
      databaseUrl: DATABASE_URL,
      dataDir: "/var/lib/refunds",
      encryptionKeys: [KEY, OLD_KEY, KEY].map(toSetting),
      rateLimit: 5,
      allowPrivateTargets: false,
      probePort: 9463,
      metricsPort: 9464,
      logLevel: "debug",
      logFormat: "json",
      retentionDays: 30,
    });
  });

  test("of production are the issuer's, and by default a rate limit and a log of every call", () => {
    expect(readConfig(PRODUCTION)).toEqual({
      ...DEFAULTS,
      mode: "production",
      databaseUrl: DATABASE_URL,
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
      allowPrivateTargets: false,
      rateLimit: 100,
      logFormat: "json",
    });
  });

  test.each<[url: string, more?: Record<string, string>]>([
    ["postgres://user@db.internal/refunds?sslmode=verify-full"],
    ["postgres://user@db.internal/refunds", { DATABASE_ALLOW_PLAINTEXT: "true" }],
    ["postgres://user@[::1]/refunds"],
    ["postgres://user@/refunds?host=/run/postgresql"],
  ])("of production may name a database here, over TLS, or that the operator allows (%s %j)", (url, more) => {
    expect(readConfig({ ...PRODUCTION, ...more, DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  const IN_PRODUCTION = {
    AUTH_ISSUER: ["", " "],
    AUTH_AUDIENCE: [""],
    AUTH_JWKS_URL: [
      ...["", "keys", "file:///etc/keys", "http://issuer.example.com/keys"],
      ...["http://127.0.0.1.example.com/keys", "https://user:password@issuer.example.com/keys"],
    ],
    AUTH_ALGORITHM: ["", "HS256", "none", "ES256,RS256"],
    AUTH_MAX_LIFETIME: ["0", "1h"],
    AUTH_KEYS_MAX_AGE: ["0", "59"],
    AUTH_CLIENT_CERT_HEADER: ["Client-Cert: x"],
    CALLER_ADDRESS_HEADER: ["X-Forwarded-For, Forwarded"],
    ENCRYPTION_KEY: [
      "",
      ...[Buffer.alloc(32), Buffer.alloc(32, "secret"), Buffer.from([...Array(32).keys()])].map((key) =>
        key.toString("base64"),
      ),
    ],
    // The parameters that decide on TLS are all in `database-url.test.ts`.
    DATABASE_URL: [
      ...["", "postgres://user@db.internal/refunds", "postgres://user@127.0.0.1.example.com/refunds"],
      "postgres://user@localhost/refunds?host=db.internal",
    ],
    WEBHOOK_ALLOW_PRIVATE: ["true"],
    NODE_TLS_REJECT_UNAUTHORIZED: ["0"],
    NODE_OPTIONS: ["--inspect=0.0.0.0:9229", "--import x --insecure_http-parser", "--tls-min-v1.0"],
  };
  test.each(pairsOf(IN_PRODUCTION))(
    "of production are refused with the name of the missing or unsafe one (%s=%s)",
    (name, value) => expectRefusal(name, { ...PRODUCTION, [name]: value }),
  );

  const ANYWHERE = {
    PORT: ["http", "-1", "65536", "80.5", " 80", "1e3"],
    METRICS_PORT: ["metrics"],
    HIGH_WATER_MARK_FILE: ["/var/lib/refunds/mark.json"],
    MAX_CONNECTIONS: ["0", "9999999999"],
    STOP_DELAY: ["301", "1s"],
    MODE: ["prod", "Sandbox"],
    DATABASE_URL: ["mysql://localhost/refunds", "localhost", "postgres://user@one:5432,two:5432/refunds"],
    ENCRYPTION_KEY: ["secret", Buffer.alloc(31).toString("base64"), "0".repeat(64)],
    ENCRYPTION_KEYS_OLD: [OLD_KEY],
    RATE_LIMIT: ["0", "-5", "1.5", "none"],
    WEBHOOK_ALLOW_PRIVATE: ["yes"],
    LOG_LEVEL: ["loud"],
    SERVE_DOCS: ["yes"],
    LOG_FORMAT: ["xml"],
    RETENTION_DAYS: ["0", "1.5", "36501", "never"],
  };
  test.each(pairsOf(ANYWHERE))("are refused with the name of the wrong one (%s=%s)", (name, value) =>
    expectRefusal(name, { [name]: value }),
  );

  test("are refused when keys do not belong together, or a database has none", () => {
    expectRefusal("ENCRYPTION_KEY", { DATABASE_URL });
    expectRefusal("ENCRYPTION_KEYS_OLD", { ENCRYPTION_KEY: KEY, ENCRYPTION_KEYS_OLD: `${OLD_KEY},secret` });
  });
});
