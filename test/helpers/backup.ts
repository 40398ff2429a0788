import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { dropDatabase } from "./databases.ts";
import { closeDatabase, runStatement } from "./postgres.ts";

/** A copy of a database as it was, on the same PostgreSQL server. */
export type Backup = AsyncDisposable & {
  /** Replaces the database by the copy; its connections are ended. */
  restore(): Promise<void>;
  /** Its address. */
  readonly url: string;
};

/** Copies a database that no server uses. */
export async function backUp(databaseUrl: string): Promise<Backup> {
  const name = new URL(databaseUrl).pathname.slice(1);
  const copy = `backup_${randomUUID().replaceAll("-", "")}`;
  const server = inject("postgresUrl");
  await closeDatabase(server, name);
  await runStatement(server, `create database ${copy} template ${name}`);
  await runStatement(server, `alter database ${name} allow_connections true`);
  return {
    url: new URL(copy, databaseUrl).href,
    async restore() {
      await dropDatabase(server, name);
      await runStatement(server, `create database ${name} template ${copy}`);
    },
    [Symbol.asyncDispose]: () => dropDatabase(server, copy),
  };
}
