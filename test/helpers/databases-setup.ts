import { join } from "node:path";
import { pino } from "pino";
import type { TestProject } from "vitest/node";
import { type DatabaseOptions, openDatabase } from "../../server/storage/database.ts";
import { startQueue } from "../../server/webhooks/queue.ts";
import { runStatement, startPostgres } from "./postgres.ts";
import { makeStoresDir } from "./stores-dir.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the run's PostgreSQL server, with a database to send administrative statements to. */
    postgresUrl: string;
    /** Name of a database on it whose tables are made; to be copied, never opened. */
    postgresTemplate: string;
    /** Where the run keeps its data folders. */
    storesDir: string;
    /** Data folder of an embedded store whose tables are made; to be copied, never opened. */
    embeddedTemplateDir: string;
  }
}

const POSTGRES_TEMPLATE = "migrated";

/** Once for the whole run: one PostgreSQL server, and of each engine one database with all tables that tests copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
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
  project.provide("postgresUrl", postgres.urlOf("postgres"));
  project.provide("postgresTemplate", POSTGRES_TEMPLATE);
  project.provide("storesDir", stores.path);
  project.provide("embeddedTemplateDir", embeddedTemplateDir);
  return teardown;
}

async function createTables(options: DatabaseOptions): Promise<void> {
  const database = await openDatabase(options);
  // The queue makes tables as well, in a schema of its own.
  const queue = await startQueue(database, pino({ level: "silent" }));
  await queue.stop();
  await database.close();
}
