import { randomBytes } from "node:crypto";
import type { WebhookSettings } from "../../../server/webhooks/webhooks.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/databases.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";

/** A PostgreSQL database and servers that use it; a test closes them together. */
export type Replicas = AsyncDisposable & {
  readonly database: TestDatabase;
  /** Starts one more server. */
  start(webhooks?: Partial<WebhookSettings>): Promise<TestServer>;
};

export async function createReplicas(): Promise<Replicas> {
  const database = await createTestDatabase("postgres");
  const env = {
    DATABASE_URL: database.options.databaseUrl ?? "",
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
  };
  const servers: TestServer[] = [];
  return {
    database,
    async start(webhooks = {}) {
      const server = await startTestServer({ env, webhooks });
      servers.push(server);
      return server;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.close()));
      await database.remove();
    },
  };
}
