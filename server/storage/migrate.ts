import { type Migration, Migrator } from "kysely/migration";
import { firstTables } from "./migrations/0001-first-tables.ts";
import { deliveries } from "./migrations/0002-deliveries.ts";
import { production } from "./migrations/0003-production.ts";
import { newestPayments } from "./migrations/0004-newest-payments.ts";
import type { Store } from "./tables.ts";

/** Applied in the order of their names; a released one is never changed. */
const migrations: Record<string, Migration> = {
  "0001-first-tables": firstTables,
  "0002-deliveries": deliveries,
  "0003-production": production,
  "0004-newest-payments": newestPayments,
};

/**
 * Brings the tables to the latest form. Replicas that start together are safe: one migrates under a lock, the others
 * wait and then find nothing left to do.
 *
 * @throws what the database reports; also when a newer release than this one has migrated it
 */
export async function migrateToLatest(db: Store): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}
