import { randomUUID } from "node:crypto";
import { dropDatabase, onEachMachine } from "./databases.ts";
import { closeDatabase, runStatement } from "./postgres.ts";

/** A copy of a database as it was, on the same PostgreSQL server, or on the same machines of a cluster. */
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
  await onEachMachine(async (machine) => {
    await closeDatabase(machine, name);
    await runStatement(machine, `create database ${copy} template ${name}`);
    await runStatement(machine, `alter database ${name} allow_connections true`);
  });
  return {
    url: new URL(copy, databaseUrl).href,
    restore: () =>
      onEachMachine(async (machine) => {
        await dropDatabase(machine, name);
        await runStatement(machine, `create database ${name} template ${copy}`);
      }),
    [Symbol.asyncDispose]: () => onEachMachine((machine) => dropDatabase(machine, copy)),
  };
}
