import { randomBytes } from "node:crypto";
import { createTestDatabase } from "./databases.ts";
import type { Engine } from "./engine.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./server.ts";

/** Servers on one database of the test, which outlives them. */
export type Deployment = AsyncDisposable & {
  /** Starts a server: embedded, one after the other; on PostgreSQL, also several at once. */
  start(options?: Pick<TestServerOptions, "realNow" | "retentionMs">): Promise<TestServer>;
  /** Closes what still runs, and removes the database. */
  remove(): Promise<void>;
};

export async function createDeployment(engine: Engine): Promise<Deployment> {
  const database = await createTestDatabase(engine);
  const { databaseUrl, dataDir } = database.options;
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  const env = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl, ENCRYPTION_KEY };
  const started: TestServer[] = [];

  const remove = async () => {
    await Promise.all(started.map((server) => server.close()));
    await database.remove();
  };
  return {
    async start(options = {}) {
      const server = await startTestServer({ ...options, dataDir, env });
      started.push(server);
      return server;
    },
    remove,
    [Symbol.asyncDispose]: remove,
  };
}
