import { sql } from "kysely";
import { expect, test } from "vitest";
import { createTestDatabase } from "../../../helpers/databases.ts";

test("a connection that is lost within a transaction fails the transaction and nothing else", async () => {
  await using stored = await createTestDatabase("postgres");
  const [database, other] = [await stored.open(), await stored.open()];
  const { db } = database;

  const failed = db.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
    await sql`select pg_terminate_backend(${rows[0]?.pid}, 5000)`.execute(other.db);
    await sql`select 1`.execute(transaction);
  });

  await expect(failed).rejects.toThrow();
  await database.readTime();
});
