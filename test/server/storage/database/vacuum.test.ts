import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Database } from "../../../../server/storage/database/database.ts";
import { createDataDir } from "../../../helpers/databases.ts";
import { startTestServer } from "../../../helpers/server.ts";
import { insertPayments, newMerchant } from "../../../helpers/store-factories.ts";

/** Payments that have been changed so often that most of their rows are dead. */
async function wear({ db }: Database): Promise<void> {
  const merchant = newMerchant();
  await insertPayments(db, merchant, 1_000);
  for (const reference of ["1", "2", "3"]) {
    await sql`update payments set client_reference_id = ${reference} where merchant = ${merchant}`.execute(
      db,
    );
  }
}

type Wear = { dead: number; vacuumed: boolean };

async function readWear({ db }: Database, table: string): Promise<Wear | undefined> {
  const { rows } = await sql<Wear>`
    select n_dead_tup::integer as dead, last_vacuum is not null as vacuumed
    from pg_stat_user_tables where schemaname = 'public' and relname = ${table}`.execute(db);
  return rows[0];
}

test("a server on the embedded store vacuums it by itself", async () => {
  await using folder = await createDataDir();
  const server = await startTestServer({ ...folder, vacuumMs: 50 });
  onTestFinished(server.close);

  await wear(server.database);

  await expect.poll(() => readWear(server.database, "payments")).toMatchObject({ vacuumed: true });
});
