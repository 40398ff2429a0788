import { randomUUID } from "node:crypto";
import { query, runStatement } from "./postgres.ts";

/** A copy of a database as it was, on the same PostgreSQL server. */
export type Backup = AsyncDisposable & {
  /** Replaces the database by the copy; its connections are ended. */
  restore(): Promise<void>;
  /** Its address. */
  readonly url: string;
};

/** Copies a database to which nothing is connected. */
export async function backUp(databaseUrl: string): Promise<Backup> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const copy = `backup_${randomUUID().replaceAll("-", "")}`;
  const server = new URL("postgres", databaseUrl).href;
  const create = (database: string, template: string) =>
    runStatement(server, `create database ${database} template ${template}`);
  await untilAlone(server, name);
  await create(copy, name);
  return {
    url: new URL(copy, databaseUrl).href,
    async restore() {
      await runStatement(server, `drop database ${name} with (force)`);
      await create(name, copy);
    },
    [Symbol.asyncDispose]: () => runStatement(server, `drop database ${copy} with (force)`),
  };
}

/** A session ends a moment after its client has closed the connection. */
async function untilAlone(server: string, database: string): Promise<void> {
  while ((await query(server, "select from pg_stat_activity where datname = $1", [database])).length > 0);
}
