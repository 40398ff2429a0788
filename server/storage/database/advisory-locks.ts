import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import { StoreStartError } from "./start-error.ts";
import type { Db } from "./tables.ts";

/**
 * The first numbers of advisory locks; the second is 0. They are only for what creates tables and functions, when there is nothing else
 * to lock yet; a server waits for none of them where these exist.
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
 * Waits for a lock, which the session or the transaction then holds. It asks repeatedly, because an index that is built while writers go
 * on waits for every statement that began before, also for one that waits for this lock.
 * @throws StoreStartError which names a session that holds it and may create nothing: any role can lock a number
 */
export async function waitForLock(db: Db, name: keyof typeof ADVISORY_LOCKS, of: "session" | "transaction") {
  const lock = sql.raw(of === "session" ? "pg_try_advisory_lock" : "pg_try_advisory_xact_lock");
  const number = sql`${ADVISORY_LOCKS[name]}::integer`;
  for (;;) {
    const { rows } = await sql<{ locked: boolean; stranger: string | null }>`
      select ${lock}(${number}, 0) as locked, (
        select format('pg_terminate_backend(%s), a session of %s', pid, usename)
        from pg_locks l join pg_stat_activity s using (pid)
        where l.locktype = 'advisory' and s.datname = current_database() and l.granted and l.pid <> pg_backend_pid()
          and l.classid = ${number}::oid and l.objid = 0 and not has_schema_privilege(s.usename, current_schema(), 'create')
        limit 1) as stranger`.execute(db);
    if (rows[0]?.locked) return;
    const { stranger = null } = rows[0] ?? {};
    if (stranger !== null)
      throw new StoreStartError(`A role that creates no tables holds the lock for it. End it: ${stranger}.`);
    await setTimeout(PAUSE_MS);
  }
}
