import { expect, test } from "vitest";
import { openDatabase } from "../../../server/storage/database.ts";
import { requireCitus } from "../../helpers/citus.ts";
import { createDistributed, findWorkerOf, startCluster } from "../../helpers/cluster.ts";
import { createSubscription } from "../../helpers/delivery-factories.ts";
import { portOf, query } from "../../helpers/postgres.ts";
import { until } from "../../helpers/receiver.ts";
import { createPayment, issueRefund, LONG_AGO, newMerchant } from "../../helpers/store-factories.ts";
import { record } from "../faults/setup/figures.ts";

const REFUNDS = 50;

/** Statements that a worker logs, with the name of the database; other lines of its log continue a statement. */
const STATEMENT = /^(\w+) LOG: {2}(?:statement|execute [^:]*): (.*)$/gm;

test("a refund touches the shard of its merchant: the other worker executes nothing, and nothing commits in two phases", async () => {
  const logs = ["", ""];
  await using cluster = await startCluster({
    programs: requireCitus(),
    // What the coordinator asks workers from time to time would be counted too.
    settings: [
      "log_statement=all",
      "log_line_prefix=%d ",
      "citus.distributed_deadlock_detection_factor=-1",
      "citus.recover_2pc_interval=-1",
    ],
    onLog(worker, text) {
      logs[worker] += text;
    },
  });
  const databaseUrl = await createDistributed(cluster, "refunds");
  const database = await openDatabase({ databaseUrl, dataDir: "unused" });
  const merchant = newMerchant();
  const payment = await createPayment(database.db, { merchant, settledAt: LONG_AGO, amountCents: 9_999_99 });
  await createSubscription(database.db, merchant);
  // The first one connects.
  await issueRefund(database.db, payment, { amountCents: 1 });
  await readLogs("before");
  logs.fill("");

  for (let refunds = 0; refunds < REFUNDS; refunds += 1) {
    await issueRefund(database.db, payment, { amountCents: 1 });
  }

  await readLogs("after");
  await database.close();
  const own = cluster.workers.map(portOf).indexOf(await findWorkerOf(databaseUrl, merchant));
  const [ofOwn = [], ofOther = []] = [own, 1 - own].map((worker) => statementsIn(logs[worker] ?? ""));
  record("a refund, its event and its delivery", {
    "statements on the worker of its merchant": ofOwn.length / REFUNDS,
    "on the other worker": ofOther.length / REFUNDS,
    "prepared transactions": [...ofOwn, ...ofOther].filter((text) => text.startsWith("PREPARE")).length,
  });
  expect(ofOther).toEqual([]);
  expect(ofOwn.length).toBeGreaterThanOrEqual(REFUNDS);
  expect(ofOwn.filter((text) => text.startsWith("PREPARE TRANSACTION"))).toEqual([]);

  /** Waits until the logs have arrived here up to now. */
  async function readLogs(mark: string): Promise<void> {
    for (const [index, worker] of cluster.workers.entries()) {
      await query(worker.urlOf("postgres"), `select '${mark}'`);
      await until(() => logs[index]?.includes(`select '${mark}'`));
    }
  }
});

/** Without those by which a server asks each worker whether it responds. */
function statementsIn(log: string): string[] {
  return [...log.matchAll(STATEMENT)]
    .filter(([, name]) => name === "refunds")
    .map(([, , text = ""]) => text)
    .filter((text) => text !== "select 1");
}
