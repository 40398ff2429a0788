import { runStatement } from "../../../helpers/postgres.ts";
import { requireCitus } from "./citus.ts";
import { type Cluster, distributeEmpty, startCluster } from "./cluster.ts";
import { createNetwork, endpointOf, type Network, passwordOf, readExample } from "./network.ts";

/** A cluster on machines that trust nobody, with the roles of the guide. */
export type MachineCluster = AsyncDisposable & {
  readonly programs: string;
  readonly network: Network;
  readonly cluster: Cluster;
  /** Creates a database with distributed tables for sandboxes; resolves with its address for the role that owns them. */
  createSandbox(): Promise<string>;
};

/** Undefined where this process may not create networks, which is recorded. */
export async function startMachines(
  proof: string,
  settings: readonly string[] = [],
): Promise<MachineCluster | undefined> {
  const programs = requireCitus();
  const network = await createNetwork(proof, programs);
  if (!network) return undefined;
  const cluster = await startCluster({ programs, workers: 2, durable: true, settings, start: network.start });
  const admin = await cluster.createDatabase("refunds");
  await runStatement(admin, readExample("roles.sql"));
  for (const role of ["refunds_migrate", "refunds_serve"] as const)
    await runStatement(admin, `alter role ${role} password '${passwordOf(role)}'`);
  return {
    programs,
    network,
    cluster,
    async createSandbox() {
      const database = await cluster.createDatabase("sandbox");
      await runStatement(database, "grant usage, create on schema public to refunds_migrate");
      const url = network.urlOf(endpointOf(cluster.coordinator), "refunds_migrate", "sandbox");
      await distributeEmpty(url);
      return url;
    },
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      await network[Symbol.asyncDispose]();
    },
  };
}
