import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "./db-types.ts";
import { StoreStartError } from "./start-error.ts";

/**
 * The first numbers of advisory locks; the second is 0. Only what creates tables and functions takes them, because there is nothing
 * else to lock yet. Where these exist, no server waits for such a lock.
 */
export const ADVISORY_LOCKS = {
  /** One process at a time migrates or distributes the tables. */
  migration: 9,
  /** One process at a time installs the functions for distributed tables. */
  functions: 18,
  /** One command at a time creates the record of what operators did. */
  record: 79,
} as const;

/** How long to pause before a lock is tried again, in milliseconds. */
const PAUSE_MS = 100;

/**
 * Waits for a lock, which the session or the transaction then holds. It asks repeatedly instead of waiting in a statement, because
 * `create index concurrently` would wait for that statement.
 * @throws StoreStartError which names a session that holds it and may create nothing: any role can lock a number
 */
export async function waitForLock(db: Db, name: keyof typeof ADVISORY_LOCKS, of: "session" | "transaction") {
  const lock = sql.raw(of === "session" ? "pg_try_advisory_lock" : "pg_try_advisory_xact_lock");
  const number = sql`${ADVISORY_LOCKS[name]}::integer`;
  for (;;) {
    const { rows } = await sql<{ locked: boolean; stranger: string | null }>`
      select ${lock}(${number}, 0) as locked, (
        select format('select pg_terminate_backend(%s) ends the session of %s', pid, usename)
        from pg_locks l join pg_stat_activity s using (pid)
        where l.locktype = 'advisory' and s.datname = current_database() and l.granted and l.pid <> pg_backend_pid()
          and l.classid = ${number}::oid and l.objid = 0 and not has_schema_privilege(s.usename, current_schema(), 'create')
        limit 1) as stranger`.execute(db);
    if (rows[0]?.locked) return;
    const { stranger = null } = rows[0] ?? {};
    if (stranger !== null)
      throw new StoreStartError(
        `A role that may create no tables holds the lock of those who do: ${stranger}.`,
      );
    await setTimeout(PAUSE_MS);
  }
}
