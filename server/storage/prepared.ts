import type { PostgresPool } from "kysely";
import type pg from "pg";
import type { Pool } from "./pool.ts";
import { isSilence } from "./unavailable.ts";

/** A statement is built in few ways; lists of many lengths could make more of them, and the rest goes unnamed. */
const MAX_NAMES = 500;

/** A table that a statement reads whole has got another column, from a newer server beside this one. */
const STALE_PLAN = "cached plan must not change result type";

/** What runs statements: a connection, or a pool that chooses one. */
type Runner = Pick<pg.Pool | pg.PoolClient, "query">;
export type RunStatement = (
  runner: Runner,
  text: string,
  values: readonly unknown[],
) => Promise<pg.QueryResult>;

/**
 * Runs statements under a name for each text, by which PostgreSQL parses and plans it once on each connection, and not at
 * every call: most of what a refund costs the database.
 */
export function createPreparing(): RunStatement {
  const names = new Map<string, string>();
  let made = 0;

  function nameOf(text: string): string | undefined {
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_NAMES) return known;
    made += 1;
    names.set(text, `s${made}`);
    return names.get(text);
  }

  return async (runner, text, values) => {
    const name = values.length > 0 ? nameOf(text) : undefined;
    // Several statements in one text come without values, and must not be given an empty list of them.
    if (name === undefined) return values.length > 0 ? runner.query(text, [...values]) : runner.query(text);
    try {
      return await runner.query({ name, text, values: [...values] });
    } catch (error) {
      // The next call prepares it anew, under another name, on every connection.
      if (error instanceof Error && error.message === STALE_PLAN) names.delete(text);
      throw error;
    }
  };
}

/** The pool as the query builder knows it, with every statement prepared. */
export function toPreparedPool(pool: Pool, run: RunStatement): PostgresPool {
  const prepared = {
    options: pool.options,
    connect: async () => prepareClient(await pool.connect(), run),
    end: () => pool.close(),
  };
  return prepared as unknown as PostgresPool; // without cursors, which nothing here reads by
}

function prepareClient(client: pg.PoolClient, run: RunStatement) {
  let released = false;
  const release = (destroy?: boolean) => {
    if (!released) client.release(destroy);
    released = true;
  };
  return {
    release,
    query: (text: string, values: readonly unknown[]) =>
      run(client, text, values).catch((error: unknown) => {
        // The statement is still under way: whoever got the connection next would wait for it, or read its answer. Ended at
        // once, so that a rollback on it need not wait as long again.
        if (isSilence(error)) release(true);
        throw error;
      }),
  };
}
