/** A database with one or more servers on it, to test what happens between servers. */
import { randomBytes } from "node:crypto";
import { type AdminRun, runCommand } from "./admin-command.ts";
import { createTestDatabase, type TestDatabase } from "./databases.ts";
import type { Engine } from "./engine.ts";
import { type Issuer, startIssuer } from "./issuer.ts";
import type { Settings } from "./process.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./server.ts";

/** Servers on one database of the test, which outlives them. */
export type Deployment = AsyncDisposable & {
  readonly database: TestDatabase;
  /** The address of the database, on PostgreSQL. */
  readonly url: string;
  /** The settings of its servers. */
  readonly env: Settings;
  /** Starts a server: embedded, one after the other; on PostgreSQL, also several at once. */
  start(options?: Omit<TestServerOptions, "dataDir" | "engine">): Promise<TestServer>;
  /** Closes what still runs, and removes the database. */
  remove(): Promise<void>;
};

export async function createDeployment(
  engine: Engine = "postgres",
  settings: Settings = {},
): Promise<Deployment> {
  const database = await createTestDatabase(engine);
  const { url } = database;
  const { dataDir } = database.options;
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  const env = { ...(url !== "" && { DATABASE_URL: url, ENCRYPTION_KEY }), ...settings };
  const started: TestServer[] = [];

  const remove = async () => {
    await Promise.all(started.map((server) => server.close()));
    await database.remove();
  };
  return {
    database,
    url,
    env,
    async start(options = {}) {
      const server = await startTestServer({ ...options, dataDir, env: { ...env, ...options.env } });
      started.push(server);
      return server;
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

/** A PostgreSQL database, an issuer, and servers in production mode that use them; a test closes them together. */
export type Production = Omit<Deployment, "remove"> & {
  readonly issuer: Issuer;
  /** Runs a command of `npm run admin` on the database, inside the test's process. */
  admin(args: readonly string[], stdin?: string): Promise<AdminRun>;
  end(): Promise<void>;
};

export async function startProduction(options: Parameters<typeof startIssuer>[0] = {}): Promise<Production> {
  const issuer = await startIssuer(options);
  const settings = { MODE: "production", RATE_LIMIT: "off", ...issuer.env };
  const { remove, ...deployment } = await createDeployment("postgres", settings);
  const end = async () => {
    await remove();
    await issuer[Symbol.asyncDispose]();
  };
  const admin: Production["admin"] = (args, stdin = "") =>
    runCommand(args, { env: { DATABASE_URL: deployment.url }, stdin });
  return { ...deployment, issuer, admin, end, [Symbol.asyncDispose]: end };
}
