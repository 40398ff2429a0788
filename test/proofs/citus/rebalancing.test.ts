import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { hostOf } from "../../helpers/cluster.ts";
import { type PostgresServer, portOf, query } from "../../helpers/postgres.ts";
import {
  conclude,
  countCalls,
  createBusinesses,
  difference,
  startDeployment,
  startLoad,
} from "./deployment.ts";

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
