import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { createDataDir } from "../../../helpers/databases.ts";
import type { Engine } from "../../../helpers/engine.ts";
import { type PostgresOptions, startPostgres } from "../../../helpers/postgres.ts";
import { type SpawnOptions, spawnServer } from "../../../helpers/server.ts";

/** A store that outlives the server processes on it, as in operation. */
export type LastingStore = ReturnType<typeof toStore>;

/** A store that ends with the test. */
export async function createLastingStore(engine: Engine): Promise<LastingStore> {
  if (engine === "postgres") return createCrashableStore();
  const folder = await createDataDir();
  onTestFinished(folder[Symbol.asyncDispose]);
  return toStore(folder.dataDir, {});
}

/** A PostgreSQL server that can be crashed, as a store, which ends with the test. */
export async function createCrashableStore(options: PostgresOptions = {}) {
  const postgres = await startPostgres({ durable: true, ...options });
  onTestFinished(postgres.stop);
  return { ...storeAt(postgres.urlOf("postgres")), postgres };
}

export function storeAt(databaseUrl: string): LastingStore {
  return toStore("unused", postgresEnv(databaseUrl));
}

export function postgresEnv(databaseUrl: string) {
  return { DATABASE_URL: databaseUrl, ENCRYPTION_KEY: randomBytes(32).toString("base64") };
}

function toStore(dataDir: string, env: Readonly<Record<string, string>>) {
  return {
    /** Settings for a server process. */
    env,
    dataDir,
    start: (options?: SpawnOptions) =>
      spawnServer({ dataDir, ...options, env: { LOG_LEVEL: "silent", ...env, ...options?.env } }),
  };
}
