import { sql } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../../server/storage/database.ts";
import { createSubscription } from "../../helpers/delivery-factories.ts";
import { dollars, subscriptionTo } from "../../helpers/factories.ts";
import { type PostgresServer, portOf, query, startPostgres } from "../../helpers/postgres.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { createPayment, issueRefund, LONG_AGO, newMerchant } from "../../helpers/store-factories.ts";
import { until } from "../../helpers/subscriber.ts";
import { load, refundsOf } from "../bench/lib/load.ts";
import { record } from "../faults/setup/figures.ts";
import { send } from "../faults/setup/load.ts";
import { requireCitus } from "./setup/citus.ts";
import { createDistributed, findWorkerOf, startCluster } from "./setup/cluster.ts";
import { type Servers, startDeployment, startServers } from "./setup/deployment.ts";
import { processorTimeOf } from "./setup/processor-time.ts";

const REFUNDS = 50;
const MERCHANTS = 24;
const CALLERS = 108;
const ROUNDS = 3;

/** Statements that a worker logs, with the name of the database; other lines of its log continue a statement. */
const STATEMENT = /^(\w+) LOG: {2}(?:statement|execute [^:]*): (.*)$/gm;

test("a refund touches the shard of its merchant: the other worker executes nothing, and nothing commits in two phases", async () => {
  const logs = ["", ""];
  await using cluster = await startCluster({
    programs: requireCitus(),
    workers: 2,
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

test("a cluster of one worker saves refunds at a cost near that of one PostgreSQL that is not distributed", async () => {
  await using receiver = await startReceiver();
  await using plain = await startPlain();
  await using one = await startDeployment({ durable: true, workers: 1 });
  const settings = {
    "one PostgreSQL": { ...plain, machines: [plain.postgres] },
    "1 worker": { ...one, machines: [one.cluster.coordinator, ...one.cluster.workers] },
  };
  const measured = await Promise.all(
    Object.entries(settings).map(async ([name, { machines, ...servers }]) => ({
      name,
      machines,
      servers,
      measure: await createCallers(servers, receiver.url),
      rates: [] as number[],
      times: machines.map(() => 0),
      connections: 0,
      refunds: 0,
    })),
  );

  // In turn, so that all of them suffer from what else the machine does.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const setting of measured) {
      const { machines, servers, measure, rates, times } = setting;
      // The servers have closed their connections meanwhile, and what each of them has planned is gone.
      await measure();
      const [before, countBefore, connectionsBefore] = [
        await Promise.all(machines.map(processorTimeOf)),
        await countRefunds(servers),
        await countConnections(machines.at(-1)),
      ];
      rates.push(await measure());
      const after = await Promise.all(machines.map(processorTimeOf));
      for (const [index, time] of after.entries())
        times[index] = (times[index] ?? 0) + time - (before[index] ?? 0);
      setting.connections += (await countConnections(machines.at(-1))) - connectionsBefore;
      setting.refunds += (await countRefunds(servers)) - countBefore;
    }
  }

  for (const { name, rates, times, connections, refunds } of measured) {
    record(`${MERCHANTS} merchants with a subscriber each, three servers, ${CALLERS} callers, ${name}`, {
      "refunds/s": Math.round(rates.toSorted((a, b) => a - b)[1] ?? 0),
      "ms of processor time for each refund": toHundredths((times.at(-1) ?? 0) / refunds),
      ...(times.length > 1 && {
        "ms on the coordinator": toHundredths((times[0] ?? 0) / refunds),
        "new connections to the worker for each refund": toHundredths(connections / refunds),
      }),
    });
    expect(refunds).toBeGreaterThan(0);
  }
});

async function countRefunds({ database: { db } }: Servers): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from payments where kind = 'REFUND'`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

async function countConnections(machine: PostgresServer | undefined): Promise<number> {
  if (!machine) return 0;
  const [row] = await query<{ count: number }>(
    machine.urlOf("postgres"),
    "select sum(sessions)::integer as count from pg_stat_database",
  );
  return row?.count ?? 0;
}

function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

async function startPlain(): Promise<Servers & { readonly postgres: PostgresServer }> {
  const postgres = await startPostgres({
    programs: requireCitus(),
    durable: true,
    settings: ["max_connections=400"],
  });
  const servers = await startServers(postgres.urlOf("postgres"));
  return {
    ...servers,
    postgres,
    async [Symbol.asyncDispose]() {
      await servers[Symbol.asyncDispose]();
      await postgres.stop();
    },
  };
}

/** The callers of each merchant, who are as many as possible alike. */
function callersOf(merchant: number): number {
  return Math.floor(((merchant + 1) * CALLERS) / MERCHANTS) - Math.floor((merchant * CALLERS) / MERCHANTS);
}

/** Creates merchants that call all servers in turn, and returns what measures their refunds a second. */
async function createCallers(
  { servers, database }: Servers,
  receiverUrl: string,
): Promise<() => Promise<number>> {
  const targets = await Promise.all(
    Array.from({ length: MERCHANTS }, async (_, index) => {
      const { url } = servers[index % servers.length] ?? servers[0];
      const { token, create } = await createSandboxMerchant({ url, database });
      const { paymentId } = await create({ amount: dollars(9_999_999) });
      await send(url, "/v1/webhook/subscribe", subscriptionTo(receiverUrl), token);
      return { url, token, body: refundsOf([paymentId]) };
    }),
  );
  return async () => {
    const results = await Promise.all(
      targets.map((target, index) => load(target, { connections: callersOf(index) })),
    );
    return results.reduce((sum, { rate }) => sum + rate, 0);
  };
}
