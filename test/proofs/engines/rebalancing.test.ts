import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRefundId } from "../../../server/domain/ids.ts";
import { firstStatus } from "../../../server/domain/refunds.ts";
import type { PaymentKey } from "../../../server/storage/payments/payment-record.ts";
import { openStore } from "../../../server/storage/store.ts";
import {
  createDistributed,
  findWorkerOf,
  hostOf,
  requireCitus,
  startCluster,
} from "../../helpers/cluster.ts";
import { type PostgresServer, portOf, query } from "../../helpers/postgres.ts";
import { until } from "../../helpers/receiver.ts";
import {
  createPayment,
  createSubscription,
  LATER,
  LONG_AGO,
  newMerchant,
} from "../../helpers/store-factories.ts";
import {
  conclude,
  countCalls,
  createBusinesses,
  difference,
  startDeployment,
  startLoad,
} from "./deployment.ts";
import { inDatabase } from "./filled.ts";

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
  await inDatabase(databaseUrl, async (database) => {
    const store = await openStore(database);
    const createOne = async (merchant: string) => {
      await createSubscription(database.db, merchant);
      return createPayment(database.db, { merchant, settledAt: LONG_AGO });
    };
    const moving = await createOne(newMerchant());
    const other = await createOne(newMerchant());
    const decideOne = async (payment: PaymentKey) => {
      const { original } = await store.loadOriginal(payment);
      if (!original) throw new Error(`no payment ${payment.paymentId}`);
      return {
        ...{ paymentId: createRefundId(), merchant: payment.merchant, original, amountCents: 1_00 },
        ...{ requestKey: randomUUID(), clientReferenceId: null, softDescriptor: null, now: LATER },
        decision: firstStatus(original, 1_00, { now: LATER, held: false }),
      };
    };

    for (const count of [1, 2, 3, 4]) {
      const from = await findWorkerOf(databaseUrl, moving.merchant);
      const to = cluster.workers.find((worker) => portOf(worker) !== from);
      if (!to) throw new Error("no other worker");
      const refunds = [await decideOne(other), await decideOne(moving)];
      await moveRows(databaseUrl, moving.merchant, to, "block_writes");

      expect(await store.saveRefunds(refunds)).toEqual([true, true]);
      await until(async () => (await store.readBacklog(LATER)).deliveries.due === 2 * count);
      expect(await store.listWaiting({ now: LATER, after: "", limit: 10 })).toHaveLength(2);
    }
    await store.close();
  });
});
