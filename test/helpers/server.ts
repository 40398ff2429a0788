/** Starts the server inside the test's process: `startTestServer({ engine, now })`, and calls it. */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { readConfig } from "../../server/config/config.ts";
import { createLogger } from "../../server/observability/logger.ts";
import {
  type CreateHooks,
  type RunningServer,
  type StartOptions,
  startServer,
} from "../../server/process/start-server.ts";
import { ACCESS_TOKEN } from "../../server/sandbox/sandbox-client.ts";
import { readTomorrowSeed } from "../../server/sandbox/sandbox-settings.ts";
import { wrapInSandbox } from "../../server/sandbox/wrap-in-sandbox.ts";
import { createTestDatabase, GENEROUS_LIMITS, makeDataDir } from "./databases.ts";
import { type Engine, engines } from "./engine.ts";
import { countRows } from "./factories.ts";
import {
  commandOf,
  type Exit,
  runProgram,
  type ServerProcessOptions,
  type Settings,
  startServerProcess,
} from "./process.ts";
import { forSuite } from "./suite.ts";

/** Limits for tests that are about something else: longer than a busy machine ever needs. */
const GENEROUS = { callLimitMs: 120_000, bodyTimeoutMs: 120_000, headTimeoutMs: 30_000 };

/** An address on which nothing listens, so that no test looks up a name by accident. */
const NO_NAMESERVER = ["127.0.0.1:9"];

export type TestServerOptions = Partial<Omit<StartOptions, "logger">> & {
  /** In addition to a free port and its own data folder. */
  readonly env?: Settings;
  /** A folder that the test removes itself; without one, the server has its own. */
  readonly dataDir?: string;
  /**
   * The engine for its own database: by default PostgreSQL, because an embedded store takes half a second of processor time to
   * start. With `dataDir` or `DATABASE_URL` there is no database of its own.
   */
  readonly engine?: Engine;
};

/** A server inside the test's process. */
export type TestServer = RunningServer &
  AsyncDisposable & {
    readonly dataDir: string;
    /** Every line logged so far, as JSON text. */
    readonly logLines: readonly string[];
  };

/** Starts the server of a sandbox on a free port; its tables are a copy of those that the test run made once. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { env, dataDir: createDir, ...rest } = options;
  const isGiven = createDir !== undefined || env?.DATABASE_URL !== undefined;
  const { engine = isGiven || !engines.includes("postgres") ? "embedded" : "postgres", ...startOptions } =
    rest;
  const { dataDir, settings, remove } =
    engine === "embedded" ? await prepareDataDir(createDir, env) : await preparePostgres(engine);
  const logLines: string[] = [];
  const logger = createLogger("trace", { write: (line: string) => void logLines.push(line) });
  try {
    const config = readConfig({ PORT: "0", DATA_DIR: dataDir, ...settings, ...env });
    const webhooks = { nameservers: NO_NAMESERVER, ...startOptions.webhooks };
    const createHooks: CreateHooks = (core) =>
      wrapInSandbox(core, { tomorrowSeed: readTomorrowSeed(env ?? {}) });
    const server = await startServer(
      config,
      { logger, ...GENEROUS, storeLimits: GENEROUS_LIMITS, ...startOptions, webhooks },
      config.mode === "sandbox" ? createHooks : undefined,
    );
    const close = () => server.close().then(remove);
    return { ...server, close, dataDir, logLines, [Symbol.asyncDispose]: close };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A server for all tests of a suite. */
export function useTestServer(options: TestServerOptions = {}): TestServer {
  return forSuite(() => startTestServer(options));
}

/** Fails a suite whose requests must all be refused, when one of them has stored something. */
export function expectNothingStored(server: TestServer): void {
  let before: unknown;
  beforeAll(async () => {
    before = await countRows(server);
  });
  afterAll(async () => expect(await countRows(server)).toEqual(before));
}

async function preparePostgres(engine: Engine) {
  const { options, url, remove } = await createTestDatabase(engine);
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  return {
    dataDir: options.dataDir,
    settings: { DATABASE_URL: url, ENCRYPTION_KEY },
    remove,
  };
}

async function prepareDataDir(given: string | undefined, env: Settings = {}) {
  if (given !== undefined) return { dataDir: given, settings: {}, remove: async () => {} };
  const dataDir = await makeDataDir({ empty: env.DATABASE_URL !== undefined });
  return { dataDir, settings: {}, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

export type SpawnOptions = ServerProcessOptions & { readonly dataDir?: string };

/** Starts a sandbox, or production with `MODE`, and resolves when it takes calls. It ends with the test at the latest. */
export async function spawnServer({ dataDir: given, ...options }: SpawnOptions = {}) {
  const { dataDir, remove } = await prepareDataDir(given, options.env);
  const server = await startServerProcess({ ...options, env: { DATA_DIR: dataDir, ...options.env } }).catch(
    async (error: unknown) => {
      await remove();
      throw error;
    },
  );
  const dispose = async () => {
    await server[Symbol.asyncDispose]();
    await remove();
  };
  // A test that times out disposes of nothing itself.
  onTestFinished(dispose);
  return { ...server, dataDir, [Symbol.asyncDispose]: dispose };
}

/** Runs a server that is expected to end by itself. */
export function runServer(
  env: Settings,
  { command = commandOf(env), ...options }: { limitMs?: number; command?: readonly string[] } = {},
): Promise<Exit> {
  return runProgram(command, { env, ...options });
}

export type PostOptions = {
  /** The caller's access token, by default acme's; null sends no `Authorization`. */
  readonly token?: string | null;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type TestResponse<Body> = { readonly status: number; readonly headers: Headers; readonly body: Body };

/** Sends a call with the headers that the interface requires. A string is sent unchanged, anything else as JSON. */
export async function post<Body = unknown>(
  url: string,
  path: string,
  body: unknown,
  { token = ACCESS_TOKEN, method = "POST", headers = {} }: PostOptions = {},
): Promise<TestResponse<Body>> {
  const response = await fetch(url + path, {
    method,
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json",
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
}
