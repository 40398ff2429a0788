import type { PostgresPool } from "kysely";
import type pg from "pg";

/** A statement is built in few ways; lists of many lengths could make more of them, and the rest goes unnamed. */
const MAX_NAMES = 500;

/** A table that a statement reads whole has got another column, from a newer server beside this one. */
const STALE_PLAN = "cached plan must not change result type";

/**
 * A pool on whose connections PostgreSQL parses and plans each statement once, and not at every call: most of what a refund
 * costs the database. It keeps a statement under a name, for as long as the connection lives.
 */
export function preparing(pool: pg.Pool): PostgresPool {
  const names = new Map<string, string>();
  let made = 0;

  function nameOf(text: string): string | undefined {
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_NAMES) return known;
    made += 1;
    names.set(text, `s${made}`);
    return names.get(text);
  }

  async function query(client: pg.PoolClient, text: string, values: readonly unknown[]) {
    const name = values.length > 0 ? nameOf(text) : undefined;
    if (name === undefined) return client.query(text, [...values]);
    try {
      return await client.query({ name, text, values: [...values] });
    } catch (error) {
      // The next call prepares it anew, under another name, on every connection.
      if (error instanceof Error && error.message === STALE_PLAN) names.delete(text);
      throw error;
    }
  }

  const wrap = (client: pg.PoolClient) => ({
    query: (text: string, values: readonly unknown[]) => query(client, text, values),
    release: (destroy?: boolean) => client.release(destroy),
  });
  const prepared = {
    options: pool.options,
    connect: async () => wrap(await pool.connect()),
    end: () => pool.end(),
  };
  return prepared as unknown as PostgresPool; // without cursors, which nothing here reads by
}
