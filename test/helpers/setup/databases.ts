import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type DatabaseOptions, openDatabase } from "../../../server/storage/database.ts";
import { requireCitus } from "../citus.ts";
import { createTemplates, startCluster } from "../cluster.ts";
import { isOnCluster } from "../engine.ts";
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
    /** With ENGINE=citus, the addresses of the cluster's machines, the coordinator's first. */
    clusterUrls: readonly string[];
  }
}

const POSTGRES_TEMPLATE = "migrated";

/** What the tests' cluster needs besides: some tests make a table refuse rows by a trigger. */
const CLUSTER_SETTINGS = ["citus.enable_unsafe_triggers=on"];

/**
 * Starts one PostgreSQL server, and makes of each engine one database with all tables, which tests copy. Projects share them:
 * the first one in a run that needs databases starts them. With ENGINE=citus there is a cluster besides.
 */
export async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  if ("postgresUrl" in vitest.getProvidedContext()) return undefined;
  const cluster = isOnCluster
    ? await startCluster({ programs: requireCitus(), settings: CLUSTER_SETTINGS })
    : undefined;
  const [postgres, stores] = await Promise.all([startPostgres(), makeStoresDir()]);
  const embeddedTemplateDir = join(stores.path, "template");
  const teardown = async () => {
    await Promise.all([postgres.stop(), cluster?.[Symbol.asyncDispose]()]);
    await stores.remove();
  };
  try {
    await createTables({ dataDir: embeddedTemplateDir });
    await runStatement(postgres.urlOf("postgres"), `create database ${POSTGRES_TEMPLATE}`);
    await createTables({ databaseUrl: postgres.urlOf(POSTGRES_TEMPLATE), dataDir: embeddedTemplateDir });
    if (cluster) await createTemplates(cluster);
  } catch (error) {
    await teardown();
    throw error;
  }
  const machines = cluster ? [cluster.coordinator, ...cluster.workers] : [];
  vitest.provide(
    "clusterUrls",
    machines.map((machine) => machine.urlOf("postgres")),
  );
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
