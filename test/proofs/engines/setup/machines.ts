import { requireCitus } from "../../../helpers/citus.ts";
import { distributeEmpty, startCluster } from "../../../helpers/cluster.ts";
import { runStatement } from "../../../helpers/postgres.ts";
import { createNetwork, endpointOf, passwordOf, readExample } from "./network.ts";

export type MachineCluster = NonNullable<Awaited<ReturnType<typeof startMachines>>>;

/**
 * A cluster on machines that trust nobody, with the roles of the guide. Undefined where this process may not create networks.
 */
export async function startMachines(settings: readonly string[] = []) {
  const programs = requireCitus();
  const network = await createNetwork(programs);
  if (!network) return undefined;
  const cluster = await startCluster({ programs, durable: true, settings, start: network.start });
  const admin = await cluster.createDatabase("refunds");
  await runStatement(admin, readExample("roles.sql"));
  for (const role of ["refunds_migrate", "refunds_serve"] as const)
    await runStatement(admin, `alter role ${role} password '${passwordOf(role)}'`);
  return {
    programs,
    network,
    cluster,
    /** Creates a database with distributed tables for sandboxes; resolves with its address for the role that owns them. */
    async createSandbox(): Promise<string> {
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
