import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type PostgresOptions, portOf, query, runStatement } from "../../../helpers/postgres.ts";
import { until } from "../../../helpers/receiver.ts";
import { createCrashableStore } from "./lasting-store.ts";
import { findProgram } from "./programs.ts";

const DEBIAN = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs, including those for a standby; undefined when they are missing. */
export function findPostgresPrograms(): string | undefined {
  const onPath = findProgram("pg_basebackup");
  const versions = existsSync(DEBIAN)
    ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, "bin"))
    : [];
  return versions.findLast((bin) => existsSync(join(bin, "pg_basebackup"))) ?? (onPath && dirname(onPath));
}

/** A PostgreSQL server with a synchronous standby, until the end of the test: every commit is on both. */
export async function startPostgresPair(programs: string) {
  const start = async (options: PostgresOptions) =>
    (await createCrashableStore({ programs, ...options })).postgres;
  const primary = await start({});
  const url = primary.urlOf("postgres");
  await runStatement(url, "create role haproxy login");
  const standby = await start({ standbyOf: portOf(primary) });
  // Only now, so that the standby, once it is the primary, does not wait for a standby itself.
  await runStatement(url, "alter system set synchronous_standby_names = '*'");
  await runStatement(url, "select pg_reload_conf()");
  await untilTrue(url, IN_STEP);
  return {
    ports: { primary: portOf(primary), standby: portOf(standby) },
    /** Kills the primary, and promotes the standby. */
    async failOver() {
      await primary.crash("SIGKILL");
      await runStatement(standby.urlOf("postgres"), "select pg_promote()");
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
export const IN_STEP = "exists (select from pg_stat_replication where sync_state = 'sync')";

export async function untilTrue(databaseUrl: string, condition: string): Promise<void> {
  await until(async () => (await query(databaseUrl, `select where ${condition}`))[0]);
}

/** Resolves when all that is committed is in the archive. */
export async function untilArchived(databaseUrl: string): Promise<void> {
  const [row] = await query<{ wal: string }>(databaseUrl, "select pg_walfile_name(pg_switch_wal()) as wal");
  await untilTrue(databaseUrl, `(select last_archived_wal from pg_stat_archiver) >= '${row?.wal}'`);
}
