/** Vitest's set-up for tests that need a database: starts PostgreSQL once for the run. */
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type DatabaseOptions, openDatabase } from "../../../server/storage/database/database.ts";
import { runStatement, startPostgres } from "../postgres.ts";
import { makeStoresDir } from "../temp-dir.ts";

declare module "vitest" {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface can add to the one of vitest
  interface ProvidedContext {
    /** Address of the run's PostgreSQL server, with a database to send administrative statements to. */
    postgresUrl: string;
    /** The name of a database on it with empty tables, which is copied and never opened. */
    postgresTemplate: string;
    /** The folder for the run's data folders. */
    storesDir: string;
    /** The data folder of an embedded store with empty tables, which is copied and never opened. */
    embeddedTemplateDir: string;
  }
}

const POSTGRES_TEMPLATE = "migrated";

/**
 * Starts one PostgreSQL server, and makes of each engine one database with all tables, which tests copy. Projects share them:
 * the first one in a run that needs databases starts them.
 */
export async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if ("postgresUrl" in vitest.getProvidedContext()) return undefined;
  const [postgres, stores] = await Promise.all([startPostgres(), makeStoresDir()]);
  const embeddedTemplateDir = join(stores.path, "template");
  const teardown = async () => {
    await postgres.stop();
    await stores.remove();
  };
  try {
    await createTables({ dataDir: embeddedTemplateDir });
    await runStatement(postgres.urlOf("postgres"), `create database ${POSTGRES_TEMPLATE}`);
    await createTables({ databaseUrl: postgres.urlOf(POSTGRES_TEMPLATE), dataDir: embeddedTemplateDir });
  } catch (error) {
    await teardown();
    throw error;
  }
  vitest.provide("postgresUrl", postgres.urlOf("postgres"));
  vitest.provide("postgresTemplate", POSTGRES_TEMPLATE);
  vitest.provide("storesDir", stores.path);
  vitest.provide("embeddedTemplateDir", embeddedTemplateDir);
  return teardown;
}

async function createTables(options: DatabaseOptions): Promise<void> {
  const database = await openDatabase(options);
  await database.close();
}
