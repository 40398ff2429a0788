import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";

/** The tables can't be distributed, and the database is as it was. The message says why and what to do. */
export class NotDistributableError extends Error {
  override readonly name = "NotDistributableError";
}

/**
 * Requires Citus with machines for the tables, and the owner of the tables.
 *
 * @throws NotDistributableError
 */
export async function requireCluster(store: Store, tables: readonly string[]): Promise<void> {
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(store);
  if (extensions.length === 0) {
    throw new NotDistributableError(
      "This database is plain PostgreSQL, which can't spread tables over machines. Create the extension citus in it first: see the guide “Scaling the database”.",
    );
  }
  const { rows } = await sql<{ workers: boolean; owner: boolean }>`
    select exists (select from pg_dist_node where shouldhaveshards and isactive and noderole = 'primary') as workers,
      (select bool_and(pg_has_role(relowner, 'usage')) from pg_class
        where oid = any(${tables}::text[]::regclass[])) as owner`.execute(store);
  if (!rows[0]?.workers) {
    throw new NotDistributableError(
      "This Citus cluster has no machine for the tables. Add one with: select citus_add_node('host', 5432)",
    );
  }
  if (!rows[0].owner) {
    throw new NotDistributableError(
      "Only the owner of the tables can distribute them. Use the DATABASE_URL with which you migrate.",
    );
  }
}

/**
 * Requires that no server is connected, and lets no other one start before the transaction ends: a server decides at its start how
 * to use the tables. It gives servers that have just stopped a moment to go.
 *
 * @throws NotDistributableError
 */
export async function lockOutServers(
  transaction: Store,
  waitMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const locked = await tryLock(transaction);
    const sessions = locked ? await findWriters(transaction) : [];
    if (locked && sessions.length === 0) return;
    if (performance.now() > untilMs) {
      throw new NotDistributableError(
        locked
          ? `Stop all servers first: they use the tables in another way until they start again. Still connected: ${describe(sessions)}.`
          : "Another process migrates or distributes this database. Wait until it has ended.",
      );
    }
    await setTimeout(PAUSE_MS, undefined, { signal });
  }
}

/** The pause before it looks again, in milliseconds. */
const PAUSE_MS = 100;

async function tryLock(transaction: Store): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.migration}::integer, 0) as locked`.execute(transaction);
  return rows[0]?.locked === true;
}

type Session = { readonly pid: number; readonly role: string; readonly address: string | null };

/**
 * Sessions that may be of a server, because their role may write payments. Citus has sessions of its own. What kind of session
 * it is and its address are only shown to superusers, members of `pg_read_all_stats`, and the session's own role.
 */
async function findWriters(transaction: Store): Promise<Session[]> {
  const { rows } = await sql<Session>`
    select pid, usename as role, host(client_addr) as address from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and coalesce(backend_type, 'client backend') = 'client backend'
      and application_name !~ '^(citus_|Citus )' and has_any_column_privilege(usename, 'payments', 'insert')
    order by pid`.execute(transaction);
  return rows;
}

/** For the transaction; every reader and writer then waits for its end. */
export async function lockTables(
  transaction: Store,
  tables: readonly string[],
  waitMs: number,
): Promise<void> {
  await sql.raw(`set local lock_timeout = ${waitMs}`).execute(transaction);
  await sql.raw(`lock table ${tables.join(", ")} in access exclusive mode`).execute(transaction);
}

/** Says which sessions have locked the tables. */
export async function explainLock(store: Store, tables: readonly string[]): Promise<NotDistributableError> {
  const { rows: sessions } = await sql<Session>`
    select distinct pid, usename as role, host(client_addr) as address
    from pg_locks join pg_stat_activity using (pid)
    where relation = any(${tables}::text[]::regclass[]) and granted and pid <> pg_backend_pid()
      and database = (select oid from pg_database where datname = current_database())
    order by pid`.execute(store);
  const holders = sessions.length === 0 ? "another session" : describe(sessions);
  return new NotDistributableError(
    `The tables are locked by ${holders}. Wait until it has ended, or end it with pg_terminate_backend, and run it again.`,
  );
}

const SHOWN = 3;

function describe(sessions: readonly Session[]): string {
  const shown = sessions.slice(0, SHOWN).map(({ pid, role, address }) => {
    return `process ${pid} of ${role}${address === null ? "" : ` from ${address}`}`;
  });
  const more = sessions.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
