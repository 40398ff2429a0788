import { execFile as runFile } from "node:child_process";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { spawnCommand } from "../../helpers/admin.ts";
import type { Refund } from "../../helpers/factories.ts";
import { chooseUser, type PostgresServer, portOf, query, runStatement } from "../../helpers/postgres.ts";
import { until } from "../../helpers/receiver.ts";
import { record, skipMissing } from "../faults/setup/figures.ts";
import { postgresEnv } from "../faults/setup/lasting-store.ts";
import { countLosses } from "../faults/setup/losses.ts";
import { IN_STEP, untilArchived, untilTrue } from "../faults/setup/system-postgres.ts";
import {
  type Business,
  conclude,
  countCalls,
  createBusinesses,
  startLoad,
  startServers,
} from "./setup/deployment.ts";
import { type MachineCluster, startMachines } from "./setup/machines.ts";
import { type Endpoint, endpointOf, NETWORK, readExample } from "./setup/network.ts";

const MERCHANTS_PER_WORKER = 4;
const LOAD_MS = 5_000;
const POINT = "nightly";

const execFile = promisify(runFile);
/** Runs a script as the user of PostgreSQL. */
const runScript = (programs: string, text: string, env: Readonly<Record<string, string>>) =>
  execFile("sh", ["-ec", text], {
    ...chooseUser(),
    cwd: "/tmp",
    env: { PATH: [programs, process.env.PATH].join(delimiter), ...env },
  });

/** Tells the cluster that a worker is at another address now. */
const moveNode = (databaseUrl: string, from: Endpoint, to: Endpoint) =>
  query(
    databaseUrl,
    "select citus_update_node(nodeid, $3, $4) from pg_dist_node where nodename = $1 and nodeport = $2",
    [from.host, from.port, to.host, to.port],
  );

test("a synchronous standby takes over from a worker that is lost under load: nothing acknowledged is lost", async (context) => {
  await using setting = (await startMachines()) ?? skipMissing(context, "a standby of a worker", NETWORK);
  const { network, cluster, programs } = setting;
  const databaseUrl = await setting.createSandbox();
  const [worker] = cluster.workers;
  if (!worker) throw new Error("the cluster has no worker");
  const DATABASE_URL = worker.urlOf("postgres");
  const standby = await network.start({
    durable: true,
    fill: (BACKUP) =>
      runScript(programs, readExample("back-up.sh").replace("--pgdata", "--write-recovery-conf --pgdata"), {
        DATABASE_URL,
        BACKUP,
      }),
  });
  await using _standby = { [Symbol.asyncDispose]: standby.stop };
  await runStatement(DATABASE_URL, "alter system set synchronous_standby_names = '*'");
  await runStatement(DATABASE_URL, "select pg_reload_conf()");
  await untilTrue(DATABASE_URL, IN_STEP);
  await using servers = await startServers(databaseUrl);
  const deployment = { ...servers, cluster, databaseUrl };
  const businesses = await createBusinesses(deployment, MERCHANTS_PER_WORKER);
  const { hit = [], spared = [] } = Object.groupBy(businesses, (business) =>
    business.worker === portOf(worker) ? "hit" : "spared",
  );
  const load = startLoad(deployment, businesses);
  await setTimeout(LOAD_MS);

  const before = { hit: countCalls(hit), spared: countCalls(spared) };
  const from = endpointOf(worker);
  await worker.crash("SIGKILL");
  const lostMs = performance.now();
  const msSince = () => Math.round(performance.now() - lostMs);
  await runStatement(standby.urlOf("postgres"), "select pg_promote()");
  const promotedMs = msSince();
  await moveNode(cluster.coordinator.urlOf("sandbox"), from, endpointOf(standby));
  const movedMs = msSince();
  const lowest = countCalls(hit).acknowledged;
  await until(() => countCalls(hit).acknowledged > lowest);
  const servedMs = msSince();
  await setTimeout(LOAD_MS);
  await load.stop();

  const failed = countCalls(spared).failed - before.spared.failed;
  await conclude("a standby of a worker takes over", deployment, businesses, {
    acknowledged: countCalls(businesses).acknowledged,
    "ms to promote": promotedMs,
    "ms until the cluster knows": movedMs,
    "ms until a refund of its merchants": servedMs,
    "acknowledged for them afterwards": countCalls(hit).acknowledged - lowest,
    "failed calls of its merchants": countCalls(hit).failed - before.hit.failed,
    "failed calls of the others": failed,
  });
  expect(failed).toBe(0);
});

test("a cluster is restored to a restore point made under load: all that was acknowledged before is there, and whole", async (context) => {
  const archived = await startMachines([
    "archive_mode=on",
    "archive_command=mkdir -p ../archive && test ! -f ../archive/%f && cp %p ../archive/%f",
  ]);
  await using setting = archived ?? skipMissing(context, "restore of a cluster", NETWORK);
  const { network, cluster, programs } = setting;
  const databaseUrl = await setting.createSandbox();
  const env = postgresEnv(databaseUrl);
  const machines = [cluster.coordinator, ...cluster.workers];
  const folderOf = (machine: PostgresServer) => join(network.folder, endpointOf(machine).host);
  const businesses: Business[] = [];
  let known: Pick<Business["ledger"], "acknowledged" | "subscriptions">[] = [];
  {
    await using servers = await startServers(databaseUrl, env);
    const deployment = { ...servers, cluster, databaseUrl };
    businesses.push(...(await createBusinesses(deployment, MERCHANTS_PER_WORKER)));
    const load = startLoad(deployment, businesses);
    for (const machine of machines)
      await runScript(programs, readExample("back-up.sh"), {
        DATABASE_URL: machine.urlOf("postgres"),
        BACKUP: join(folderOf(machine), "backup"),
      });
    await setTimeout(LOAD_MS);
    known = businesses.map(({ ledger }) => ({
      acknowledged: new Map(ledger.acknowledged),
      subscriptions: new Set(ledger.subscriptions),
    }));
    await query(cluster.coordinator.urlOf("sandbox"), "select citus_create_restore_point($1)", [POINT]);
    await setTimeout(LOAD_MS);
    await load.stop();
  }
  for (const machine of machines) await untilArchived(machine.urlOf("postgres"));
  for (const machine of machines) await machine.crash("SIGKILL");

  const restoredMachines = await restore(setting, machines, folderOf);
  const [coordinator] = restoredMachines;
  if (!coordinator) throw new Error("no coordinator");
  await using _restored = { [Symbol.asyncDispose]: () => stopAll(restoredMachines) };
  const restoredUrl = network.urlOf(endpointOf(coordinator), "refunds_migrate", "sandbox");
  await using servers = await startServers(restoredUrl, { ...env, DATABASE_URL: restoredUrl });
  const checked = await spawnCommand(["check"], { env: { DATABASE_URL: restoredUrl } });

  const missing: string[] = [];
  const losses = [];
  let forgotten = 0;
  for (const [index, { ledger, receiver, merchant }] of businesses.entries()) {
    const { acknowledged, subscriptions } = known[index] ?? ledger;
    const rows = await query<{ key: string; id: string }>(
      coordinator.urlOf("sandbox"),
      "select request_key as key, payment_id as id from payments where kind = 'REFUND' and merchant = $1",
      [merchant],
    );
    const stored = new Map(rows.map(({ key, id }) => [key, id]));
    for (const [key, { paymentId }] of acknowledged) if (stored.get(key) !== paymentId) missing.push(key);
    const later = [...ledger.acknowledged].filter(([key]) => !stored.has(key)).map(([key]) => key);
    forgotten += later.length;
    for (const key of later) ledger.acknowledged.delete(key);
    for (const { key, id } of rows)
      if (!ledger.acknowledged.has(key)) ledger.acknowledged.set(key, { paymentId: id } as Refund);
    ledger.subscriptions.clear();
    for (const key of subscriptions) ledger.subscriptions.add(key);
    losses.push(await countLosses(servers.servers[0], ledger, receiver));
  }
  const lost = [...missing, ...losses.flatMap((one) => one.lost)];
  const doubled = losses.flatMap((one) => one.doubled);
  const atRestore = countCalls(businesses).acknowledged;
  const deployment = { ...servers, cluster, databaseUrl: restoredUrl };
  const load = startLoad(deployment, businesses);
  await setTimeout(LOAD_MS);
  await load.stop();
  record("a cluster restored to a point", {
    "acknowledged before the point": known.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
    "acknowledged later and forgotten": forgotten,
    lost: lost.length,
    doubled: doubled.length,
  });
  expect({ lost, doubled }).toEqual({ lost: [], doubled: [] });
  await conclude("the same cluster afterwards", deployment, businesses, {
    acknowledged: countCalls(businesses).acknowledged - atRestore,
  });
  expect(forgotten).toBeGreaterThan(0);
  expect(checked).toMatchObject({ code: 0, stderr: "" });
});

const stopAll = async (machines: readonly PostgresServer[]) => {
  for (const machine of machines) await machine.stop();
};

/** Restores every machine to the point, each on a new one, and tells the cluster their addresses. */
async function restore(
  { network, programs }: MachineCluster,
  machines: readonly PostgresServer[],
  folderOf: (machine: PostgresServer) => string,
): Promise<PostgresServer[]> {
  const script = readExample("restore.sh").replace("recovery_target_time", "recovery_target_name");
  const restored: PostgresServer[] = [];
  for (const machine of machines) {
    const ARCHIVE = join(folderOf(machine), "archive");
    const BACKUP = join(folderOf(machine), "backup");
    const fill = (DATA: string) => runScript(programs, script, { BACKUP, ARCHIVE, DATA, UNTIL: POINT });
    const server = await network.start({ durable: true, fill });
    restored.push(server);
    await untilTrue(server.urlOf("postgres"), "not pg_is_in_recovery()");
  }
  const [coordinator, ...workers] = restored;
  if (!coordinator) throw new Error("no coordinator");
  const url = coordinator.urlOf("sandbox");
  const { host, port } = endpointOf(coordinator);
  for (const [index, worker] of workers.entries()) {
    const from = machines[index + 1];
    if (from) await moveNode(url, endpointOf(from), endpointOf(worker));
  }
  await query(url, "select start_metadata_sync_to_all_nodes()");
  await query(url, "select citus_set_coordinator_host($1, $2)", [host, port]);
  return restored;
}
