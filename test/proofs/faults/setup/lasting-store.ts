/** A database that outlives the server processes which are killed on it. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, join } from "node:path";
import { onTestFinished } from "vitest";
import { createDataDir } from "../../../helpers/databases.ts";
import type { Engine } from "../../../helpers/engine.ts";
import { listenForSockets } from "../../../helpers/network/local-server.ts";
import {
  type PostgresOptions,
  portOf,
  query,
  runStatement,
  startPostgres,
} from "../../../helpers/postgres.ts";
import { until } from "../../../helpers/receiver.ts";
import { type SpawnOptions, spawnServer } from "../../../helpers/server.ts";
import { type Skipping, skipMissing } from "./figures.ts";

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

function storeAt(databaseUrl: string): LastingStore {
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

const DEBIAN = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs, including those for a standby; where they are missing, the test is skipped. */
export function findPostgresPrograms(context: Skipping, fault: string): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const onPath = (process.env.PATH ?? "").split(delimiter);
  const folders = [...onPath, ...versions.map((version) => join(DEBIAN, version, "bin"))];
  const found = folders.findLast((bin) => existsSync(join(bin, "pg_basebackup")));
  return found ?? skipMissing(context, fault, "pg_basebackup");
}

/**
 * A PostgreSQL server with a synchronous standby, until the end of the test: every commit is on both. A proxy leads to the present
 * primary.
 */
export async function startPostgresPair(programs: string) {
  const start = async (options: PostgresOptions) =>
    (await createCrashableStore({ programs, ...options })).postgres;
  const primary = await start({});
  const url = primary.urlOf("postgres");
  const standby = await start({ standbyOf: portOf(primary) });
  // Only now, so that the standby, once it is the primary, does not wait for a standby itself.
  await runStatement(url, "alter system set synchronous_standby_names = '*'");
  await runStatement(url, "select pg_reload_conf()");
  await untilTrue(url, IN_STEP);
  let present = primary;
  const proxy = await listenForSockets((caller) => {
    const database = connect(portOf(present), "127.0.0.1");
    proxy.add(database);
    caller.on("close", () => database.destroy());
    database.on("close", () => caller.destroy());
    caller.pipe(database).pipe(caller);
  });
  onTestFinished(proxy[Symbol.asyncDispose]);
  return {
    ...storeAt(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`),
    /** Kills the primary, promotes the standby, and leads to that one. */
    async failOver() {
      await primary.crash("SIGKILL");
      await runStatement(standby.urlOf("postgres"), "select pg_promote()");
      present = standby;
    },
    /** Pauses all processes of the standby, so that no commit on the primary completes. */
    freezeStandby: standby.suspend,
    thawStandby: standby.resume,
    /** How many clients are connected to the primary. */
    async countClients() {
      return (await query(url, "select from pg_stat_activity where backend_type = 'client backend'")).length;
    },
  };
}

/** A condition on a primary: a synchronous standby has all that is committed. */
const IN_STEP = "exists (select from pg_stat_replication where sync_state = 'sync')";

export async function untilTrue(databaseUrl: string, condition: string): Promise<void> {
  await until(async () => (await query(databaseUrl, `select where ${condition}`))[0]);
}

/** Resolves when all that is committed is in the archive. */
export async function untilArchived(databaseUrl: string): Promise<void> {
  const [row] = await query<{ wal: string }>(databaseUrl, "select pg_walfile_name(pg_switch_wal()) as wal");
  await untilTrue(databaseUrl, `(select last_archived_wal from pg_stat_archiver) >= '${row?.wal}'`);
}
