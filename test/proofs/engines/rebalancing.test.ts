import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { query } from "../../helpers/postgres.ts";
import { record } from "../faults/setup/figures.ts";
import {
  countCalls,
  createBusinesses,
  difference,
  settle,
  startDeployment,
  startLoad,
} from "./setup/deployment.ts";

const MERCHANTS_PER_WORKER = 4;
const LOAD_MS = 3_000;

test("a third worker gets its share of the rows under load: no result is wrong, and nothing is lost", async () => {
  await using deployment = await startDeployment({ durable: true });
  const { cluster, databaseUrl } = deployment;
  const businesses = await createBusinesses(deployment, MERCHANTS_PER_WORKER);
  const load = startLoad(deployment, businesses);
  await setTimeout(LOAD_MS);
  const before = countCalls(businesses);
  const startedAt = performance.now();

  await cluster.addWorker();
  // Copies the rows by logical replication while calls go on.
  await query(databaseUrl, "select rebalance_table_shards(shard_transfer_mode => 'force_logical')");
  const seconds = (performance.now() - startedAt) / 1000;
  const meanwhile = difference(before, countCalls(businesses));
  await setTimeout(LOAD_MS);
  await load.stop();

  const { acknowledged } = countCalls(businesses);
  const shards = await query<{ shards: number }>(
    databaseUrl,
    `select count(*)::integer as shards from pg_dist_placement join pg_dist_shard using (shardid)
     where logicalrelid = 'payments'::regclass group by groupid order by shards`,
  );
  const { cameThrough, lost, doubled, wrong } = await settle(deployment, businesses);
  record("a third worker under load", {
    "s to join and to get its rows": Math.round(seconds),
    "acknowledged meanwhile": meanwhile.acknowledged,
    "failed calls meanwhile": meanwhile.failed,
    "delivered meanwhile": meanwhile.delivered,
    "acknowledged in all": acknowledged,
    "came through without a response": cameThrough,
    lost: lost.length,
    doubled: doubled.length,
  });
  expect({ lost, doubled, wrong }).toEqual({ lost: [], doubled: [], wrong: [] });
  expect(shards.map((row) => row.shards)).toEqual([10, 11, 11]);
  expect(meanwhile.acknowledged).toBeGreaterThan(0);
});
