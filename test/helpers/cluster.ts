/** Starts a Citus cluster: PostgreSQL whose tables are spread over machines, here processes. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { spawnCommand } from "./admin-command.ts";
import {
  type PostgresOptions,
  type PostgresServer,
  portOf,
  query,
  runStatement,
  startPostgres,
} from "./postgres.ts";

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

export type ClusterOptions = Pick<PostgresOptions, "durable"> & {
  /** The folder of the programs of a PostgreSQL with Citus. */
  readonly programs: string;
  /** The port by which others reach a worker, as of a proxy; by default its own. */
  readonly reach?: (worker: PostgresServer) => Promise<number>;
};

const SETTINGS = [
  "shared_preload_libraries=citus",
  // For moving shards, and for transactions that several machines take part in.
  "wal_level=logical",
  "max_prepared_transactions=200",
  // Each database has a maintenance process, and moving shards needs some more.
  "max_worker_processes=48",
  "max_connections=400",
  "citus.node_conninfo=sslmode=disable",
];

const WORKERS = 2;

/** A Citus cluster on this machine: a coordinator, and two workers that hold the rows. */
export async function startCluster(options: ClusterOptions) {
  const { programs, durable = false, reach = async (worker) => portOf(worker) } = options;
  const machines: PostgresServer[] = [];
  const databases: string[] = [];
  const stop = () => Promise.all(machines.map((machine) => machine.stop()));
  const start = async () => {
    const machine = await startPostgres({ programs, durable, settings: SETTINGS });
    machines.push(machine);
    return machine;
  };
  try {
    const coordinator = await start();
    const workers = await Promise.all(Array.from({ length: WORKERS }, start));
    return {
      coordinator,
      workers,
      /** Creates a database on every machine that knows the other machines; resolves with its address on the coordinator. */
      async createDatabase(name: string): Promise<string> {
        await Promise.all(machines.map((machine) => createExtension(machine, name)));
        const url = coordinator.urlOf(name);
        await runStatement(
          url,
          `select citus_set_coordinator_host('${hostOf(coordinator)}', ${portOf(coordinator)})`,
        );
        for (const worker of workers) await addNode(url, hostOf(worker), await reach(worker));
        databases.push(name);
        return url;
      },
      /** Adds a machine to the cluster and to its databases. It holds no rows until they are moved. */
      async addWorker(): Promise<PostgresServer> {
        const worker = await start();
        for (const name of databases) {
          await createExtension(worker, name);
          await addNode(coordinator.urlOf(name), hostOf(worker), await reach(worker));
        }
        workers.push(worker);
        return worker;
      },
      [Symbol.asyncDispose]: async () => void (await stop()),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createExtension(machine: PostgresServer, database: string): Promise<void> {
  await runStatement(machine.urlOf("postgres"), `create database ${database}`);
  await runStatement(machine.urlOf(database), "create extension citus");
}

function addNode(databaseUrl: string, host: string, port: number): Promise<void> {
  return runStatement(databaseUrl, `select citus_add_node('${host}', ${port})`);
}

/** The address of a machine, as others reach it. */
export function hostOf(machine: Pick<PostgresServer, "urlOf">): string {
  return new URL(machine.urlOf("postgres")).hostname;
}

/** A database of the cluster with empty tables, distributed as an operator does it; resolves with its address. */
export async function createDistributed(cluster: Cluster, name: string): Promise<string> {
  const databaseUrl = await cluster.createDatabase(name);
  await distributeEmpty(databaseUrl);
  return databaseUrl;
}

/** Creates tables in an empty database, and distributes them. */
export async function distributeEmpty(databaseUrl: string): Promise<void> {
  for (const command of ["migrate", "distribute"]) {
    const { code, stderr } = await spawnCommand([command], { env: { DATABASE_URL: databaseUrl } });
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`);
  }
}

/** The port of the worker that has the rows of a merchant. */
export async function findWorkerOf(databaseUrl: string, merchant: string): Promise<number> {
  const [row] = await query<{ nodeport: number }>(
    databaseUrl,
    `select nodeport from pg_dist_placement join pg_dist_node using (groupid)
     where shardid = get_shard_id_for_distribution_column('payments', $1::text)`,
    [merchant],
  );
  if (!row) throw new Error(`no worker has the rows of ${merchant}`);
  return row.nodeport;
}

/** Where Debian puts the programs of PostgreSQL, by version. */
const DEBIAN = "/usr/lib/postgresql";

/**
 * The folder of the programs of a PostgreSQL with Citus: that of `PG_CONFIG`, if it is set, or else of the `pg_config` in the
 * path, or one of Debian's. Undefined when Citus is installed in none of them.
 */
export function findCitus(): string | undefined {
  const given = process.env.PG_CONFIG;
  return (given ? [given] : listPgConfigs()).flatMap(programsWithCitus)[0];
}

/** The same where the tests need it. */
export function requireCitus(): string {
  const programs = findCitus();
  if (programs) return programs;
  throw new Error("There is no PostgreSQL with Citus here. Install it, and name its pg_config in PG_CONFIG.");
}

function listPgConfigs(): string[] {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toReversed() : [];
  return ["pg_config", ...versions.map((version) => join(DEBIAN, version, "bin/pg_config"))];
}

function programsWithCitus(pgConfig: string): string[] {
  try {
    const output = execFileSync(pgConfig, ["--bindir", "--pkglibdir", "--sharedir"], { encoding: "utf8" });
    const [programs = "", libraries = "", shared = ""] = output.trim().split("\n");
    const parts = [
      join(programs, "postgres"),
      join(libraries, "citus.so"),
      join(shared, "extension/citus.control"),
    ];
    return parts.every((part) => existsSync(part)) ? [programs] : [];
  } catch {
    return []; // there is no such program, or it is that of another kind of PostgreSQL
  }
}
