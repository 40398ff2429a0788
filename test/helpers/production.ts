import { randomBytes } from "node:crypto";
import { createTestDatabase, type TestDatabase } from "./databases.ts";
import { type Issuer, startIssuer } from "./issuer.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./server.ts";

/** A PostgreSQL database, an issuer, and servers in production mode that use them; a test closes them together. */
export type Production = AsyncDisposable & {
  readonly database: TestDatabase;
  readonly issuer: Issuer;
  /** The settings of its servers. */
  readonly env: Readonly<Record<string, string>>;
  /** Starts one more server. */
  start(options?: TestServerOptions): Promise<TestServer>;
  end(): Promise<void>;
};

export async function startProduction(options: Parameters<typeof startIssuer>[0] = {}): Promise<Production> {
  const [database, issuer] = await Promise.all([createTestDatabase("postgres"), startIssuer(options)]);
  const env = {
    MODE: "production",
    DATABASE_URL: database.options.databaseUrl ?? "",
    ENCRYPTION_KEY: randomBytes(32).toString("base64"),
    RATE_LIMIT: "off",
    ...issuer.env,
  };
  const servers: TestServer[] = [];
  const end = async () => {
    await Promise.all(servers.map((server) => server.close()));
    await issuer[Symbol.asyncDispose]();
    await database.remove();
  };
  return {
    database,
    issuer,
    env,
    async start(more = {}) {
      const server = await startTestServer({ dataDir: "unused", ...more, env: { ...env, ...more.env } });
      servers.push(server);
      return server;
    },
    end,
    [Symbol.asyncDispose]: end,
  };
}
