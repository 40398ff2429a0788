import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import type { PaymentKey } from "../../../server/storage/statements/payment-record.ts";
import { listWaiting, saveRefunds as save } from "../../../server/storage/statements/statements.ts";
import { bindStore } from "../../../server/storage/storage.ts";
import { readBacklog } from "../../../server/storage/webhooks/backlog.ts";
import { requireCitus } from "../../helpers/citus.ts";
import { createDistributed, findWorkerOf, hostOf, startCluster } from "../../helpers/cluster.ts";
import { createSubscription } from "../../helpers/delivery-factories.ts";
import { type PostgresServer, portOf, query } from "../../helpers/postgres.ts";
import { createPayment, decideRefund, LATER, LONG_AGO, newMerchant } from "../../helpers/store-factories.ts";
import {
  conclude,
  countCalls,
  createBusinesses,
  difference,
  startDeployment,
  startLoad,
} from "./setup/deployment.ts";
import { inDatabase } from "./setup/filled.ts";

const MERCHANTS_PER_WORKER = 4;
const LOAD_MS = 3_000;
/** Of how many merchants the rows are moved once more. */
const MOVED = 3;

/** Moves the rows of a merchant, and of others in the same shard, unless they are there. */
async function moveRows(
  databaseUrl: string,
  merchant: string,
  to: PostgresServer,
  mode: string,
): Promise<void> {
  await query(
    databaseUrl,
    `select citus_move_shard_placement(shardid, nodename, nodeport, $2, $3, $4::citus.shard_transfer_mode)
     from pg_dist_placement join pg_dist_node using (groupid)
     where shardid = get_shard_id_for_distribution_column('payments', $1::text) and nodeport <> $3`,
    [merchant, hostOf(to), portOf(to), mode],
  );
}

test("a third worker gets its share of the rows under load: no result is wrong, and nothing is lost", async () => {
  await using deployment = await startDeployment({ durable: true });
  const { cluster, databaseUrl } = deployment;
  const businesses = await createBusinesses(deployment, MERCHANTS_PER_WORKER);
  const load = startLoad(deployment, businesses);
  await setTimeout(LOAD_MS);
  const before = countCalls(businesses);
  const startedAt = performance.now();

  const added = await cluster.addWorker();
  // Copies the rows by logical replication while calls go on.
  await query(databaseUrl, "select rebalance_table_shards(shard_transfer_mode => 'force_logical')");
  const seconds = (performance.now() - startedAt) / 1000;
  const meanwhile = difference(before, countCalls(businesses));
  const shards = await query<{ shards: number }>(
    databaseUrl,
    `select count(*)::integer as shards from pg_dist_placement join pg_dist_shard using (shardid)
     where logicalrelid = 'payments'::regclass group by groupid order by shards`,
  );
  // Whichever shards those were: these have calls.
  for (const { merchant } of businesses.slice(0, MOVED))
    await moveRows(databaseUrl, merchant, added, "force_logical");
  await setTimeout(LOAD_MS);
  await load.stop();

  const { acknowledged } = countCalls(businesses);
  await conclude("a third worker under load", deployment, businesses, {
    "s to join and to get its rows": Math.round(seconds),
    "acknowledged meanwhile": meanwhile.acknowledged,
    "failed calls meanwhile": meanwhile.failed,
    "delivered meanwhile": meanwhile.delivered,
    "acknowledged in all": acknowledged,
  });
  expect(shards.map((row) => row.shards)).toEqual([5, 5, 6]);
  expect(meanwhile.acknowledged).toBeGreaterThan(0);
});

test("refunds of several merchants are saved, and what waits is found once, though a shard has just moved", async () => {
  await using cluster = await startCluster({ programs: requireCitus() });
  const databaseUrl = await createDistributed(cluster, "refunds");
  await inDatabase(databaseUrl, async ({ db }) => {
    const { saveRefunds } = bindStore(db, { saveRefunds: save });
    const merchant = newMerchant();
    const subscriptionKey = await createSubscription(db, merchant);
    const payment = await createPayment(db, { merchant, settledAt: LONG_AGO });
    const others = new Map<number, PaymentKey>(); // by worker
    while (others.size < cluster.workers.length) {
      const other = newMerchant();
      const key = await createPayment(db, { merchant: other, settledAt: LONG_AGO });
      if ((await findShardOf(databaseUrl, other)) !== (await findShardOf(databaseUrl, merchant)))
        others.set(await findWorkerOf(databaseUrl, other), key);
    }
    const countDue = async () => (await readBacklog(db, LATER)).deliveries.due;
    expect(await countDue()).toBe(0);

    for (const count of [1, 2, 3, 4]) {
      const from = await findWorkerOf(databaseUrl, merchant);
      const to = cluster.workers.find((worker) => portOf(worker) !== from);
      const other = others.get(from);
      if (!to || !other) throw new Error("no other worker");
      // Citus itself passes a call on by its first merchant.
      const refunds = [await decideRefund(db, other), await decideRefund(db, payment)];
      await moveRows(databaseUrl, merchant, to, "block_writes");

      expect(await saveRefunds(refunds)).toEqual([true, true]);
      expect(
        await query(databaseUrl, "select from payments where merchant = $1 and kind = 'REFUND'", [merchant]),
      ).toHaveLength(count);
      expect(await countDue()).toBe(count);
      expect(await listWaiting(db, { now: LATER, after: "", limit: 10 })).toMatchObject([
        { merchant, subscriptionKey, due: true },
      ]);
    }
  });
});

async function findShardOf(databaseUrl: string, merchant: string): Promise<string | undefined> {
  const rows = await query<{ shard: string }>(
    databaseUrl,
    "select get_shard_id_for_distribution_column('payments', $1::text) as shard",
    [merchant],
  );
  return rows[0]?.shard;
}
