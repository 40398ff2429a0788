import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Store } from "../../../../server/storage/database/tables.ts";
import { openDatabase } from "../../../../server/storage/database.ts";
import { recordAttempts } from "../../../../server/storage/statements/statements.ts";
import { claim, createEvent, createSubscription } from "../../../helpers/delivery-factories.ts";
import { runStatement, startPostgres } from "../../../helpers/postgres.ts";
import { NOW, newMerchant } from "../../../helpers/store-factories.ts";

const DELIVERED = { at: NOW, status: 200, error: null, milliseconds: 5, bodyStart: "ok", endedAt: NOW };

// A commit that waits for the disk also waits for a standby. The one that is required here does not exist.
test("a claim waits until the database has kept it, and the result of an attempt does not", async () => {
  const postgres = await startPostgres();
  const databaseUrl = postgres.urlOf("postgres");
  const database = await openDatabase({ databaseUrl, dataDir: "unused" });
  const { background } = database; // its statements may take 30 seconds
  const requireStandby = async (name: string) => {
    await runStatement(databaseUrl, `alter system set synchronous_standby_names = '${name}'`);
    await runStatement(databaseUrl, "select pg_reload_conf()");
  };
  const merchant = newMerchant();
  const subscriptionKey = await createSubscription(background, merchant);
  await createEvent(background, merchant);
  await createEvent(background, merchant);
  const [attempt] = await claim(background, { merchant, subscriptionKey }, { limit: 1 });
  if (!attempt) throw new Error("nothing is due");
  await requireStandby("absent");
  // The setting takes effect a moment later.
  let event = createEvent(background, merchant);
  while (!(await isKeptWaiting(background, event, 1))) event = createEvent(background, merchant);

  const recorded = await recordAttempts(background, [
    { ...attempt, ...DELIVERED, outcome: { kind: "delivered" } },
  ]);
  const claiming = claim(background, { merchant, subscriptionKey }, { limit: 1 });

  expect(recorded).toEqual(new Set([attempt.webhookId]));
  expect(await isKeptWaiting(background, claiming, 2)).toBe(true);
  await requireStandby("");
  expect(await claiming).toHaveLength(1);
  await event;
  await database.close();
  await postgres.stop();
});

/** Resolves with true when the given number of commits wait for a standby, and with false when the work ends before that. */
async function isKeptWaiting(store: Store, work: Promise<unknown>, count: number): Promise<boolean> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  while (!ended) {
    const { rows } = await sql`select from pg_stat_activity where wait_event = 'SyncRep'`.execute(store);
    if (rows.length >= count) return true;
  }
  return false;
}
