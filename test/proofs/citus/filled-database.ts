/** A database with rows in each table, to move onto a Citus cluster. */
import { type Database, openDatabase } from "../../../server/storage/database/database.ts";
import type { Db } from "../../../server/storage/database/db-types.ts";
import { recordAttempts } from "../../../server/storage/webhooks/record-attempts.ts";
import { type AdminRun, runCommand } from "../../helpers/admin-command.ts";
import type { Cluster } from "../../helpers/cluster.ts";
import { GENEROUS_LIMITS } from "../../helpers/databases.ts";
import { query } from "../../helpers/postgres.ts";
import {
  claim,
  createEvent,
  createPayment,
  createRefund,
  createSubscription,
  LATER,
  NOW,
  newMerchant,
} from "../../helpers/store-factories.ts";

/** Merchants with rows in each of their tables: refunds, some of them due later, and deliveries before and after an attempt. */
export async function fillMerchants(store: Db, count: number): Promise<void> {
  const merchants = Array.from({ length: count }, newMerchant);
  for (const merchant of merchants) {
    const subscriptionKey = await createSubscription(store, merchant);
    const { paymentId } = await createPayment(store, { merchant });
    await createRefund(store, { merchant, paymentId });
    await createRefund(store, { merchant, paymentId }, { now: LATER });
    await createEvent(store, merchant);
    const attempts = await claim(store, { merchant, subscriptionKey }, { limit: 1, now: LATER });
    const result = { at: NOW, status: 503, error: "503", milliseconds: 5, bodyStart: "busy", endedAt: LATER };
    await recordAttempts(
      store,
      attempts.map((attempt) => ({ ...attempt, ...result, outcome: { kind: "retry", afterMs: 5_000 } })),
    );
  }
}

/** Creates a database with rows of 50 merchants in tables that are not distributed. Resolves with its URL. */
export async function createFilledDatabase(cluster: Cluster, name: string): Promise<string> {
  const databaseUrl = await cluster.createDatabase(name);
  await inDatabase(databaseUrl, ({ db }) => fillMerchants(db, 50));
  return databaseUrl;
}

export const open = (databaseUrl: string): Promise<Database> =>
  openDatabase({ databaseUrl, dataDir: "unused", limits: GENEROUS_LIMITS });

/** Works while a database is open. */
export async function inDatabase<Result>(
  databaseUrl: string,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = await open(databaseUrl);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Runs a command of the operator. */
export const run = (databaseUrl: string, command = "distribute"): Promise<AdminRun> =>
  runCommand([command], { env: { DATABASE_URL: databaseUrl } });

const TABLES = [
  "payments",
  "payouts_waiting",
  "events",
  "subscriptions",
  "deliveries",
  "delivery_attempts",
  "access_tokens",
  "clock",
  "deployment",
] as const;

/** Every row of every table of the domain, in an order that depends on the rows alone. */
export async function readRows(databaseUrl: string): Promise<Record<string, string[]>> {
  const tables = await Promise.all(
    TABLES.map(async (table) => {
      const rows = await query(databaseUrl, `select * from ${table}`);
      return [table, rows.map((row) => JSON.stringify(row)).sort()] as const;
    }),
  );
  return Object.fromEntries(tables);
}
