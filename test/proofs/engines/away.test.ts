import { expect, test } from "vitest";
import { openDatabase } from "../../../server/storage/database.ts";
import { freeLeases, listWaiting, readShares } from "../../../server/storage/statements/statements.ts";
import { readBacklog } from "../../../server/storage/webhooks/backlog.ts";
import { requireCitus } from "../../helpers/citus.ts";
import { createDistributed, findWorkerOf, startCluster } from "../../helpers/cluster.ts";
import { claim, createEvent, createSubscription, LEASE_MS } from "../../helpers/delivery-factories.ts";
import { portOf } from "../../helpers/postgres.ts";
import { until } from "../../helpers/receiver.ts";
import {
  createPayment,
  createRefund,
  LATER,
  NOW,
  newMerchant,
  runDue,
} from "../../helpers/store-factories.ts";

/** A name that would end a literal, or begin a placeholder, if it were not quoted. */
const AWKWARD = "'%1$s %L\\";

test("while a worker is away, what waits for the others is found", async () => {
  await using cluster = await startCluster({ programs: requireCitus() });
  const databaseUrl = await createDistributed(cluster, "refunds");
  const database = await openDatabase({ databaseUrl, dataDir: "unused" });
  const { db } = database;
  const [lost, kept] = cluster.workers;
  if (!lost || !kept) throw new Error("a worker is missing");
  const merchantOn = async (worker: typeof kept) => {
    for (;;) {
      const merchant = `${newMerchant()}${AWKWARD}`;
      if ((await findWorkerOf(databaseUrl, merchant)) !== portOf(worker)) continue;
      const subscriptionKey = await createSubscription(db, merchant);
      await createRefund(db, await createPayment(db, { merchant }));
      await createEvent(db, merchant);
      const [attempt] = await claim(db, { merchant, subscriptionKey }, { limit: 1, leaseMs: -LEASE_MS });
      return { merchant, subscriptionKey, attempt };
    }
  };
  await merchantOn(lost);
  const { merchant, subscriptionKey } = await merchantOn(kept);

  await lost.crash("SIGKILL");

  expect(await readBacklog(db, NOW)).toMatchObject({ deliveries: { due: 1, later: 0, inHand: 1 } });
  const shares = () => readShares(db, { merchants: [merchant], realNow: NOW, ended: [] });
  expect(await shares()).toEqual({
    now: NOW,
    due: [{ merchant, subscriptionKey, timeouts: null, count: 1 }],
  });
  expect(await listWaiting(db, { now: NOW, after: "", limit: 10 })).toEqual([
    { merchant, subscriptionKey, timeouts: null, due: true, ended: false, count: 1 },
  ]);
  await freeLeases(db);
  expect((await shares()).due).toMatchObject([{ subscriptionKey, count: 0 }]);
  expect((await runDue(db, LATER)).authorized).toMatchObject([{ merchant }]);
  expect((await runDue(db, LATER)).authorized).toEqual([]);

  await lost.restart();
  const [late] = await until(async () => {
    const { authorized } = await runDue(db, LATER);
    return authorized.length === 1 ? authorized : undefined;
  });
  expect(late?.merchant).not.toBe(merchant);
  await database.close();
});
