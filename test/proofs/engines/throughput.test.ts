import { sql } from "kysely";
import { expect, test } from "vitest";
import { dollars, subscriptionTo } from "../../helpers/factories.ts";
import { type PostgresServer, query, startPostgres } from "../../helpers/postgres.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { load, refundsOf } from "../bench/lib/load.ts";
import { record } from "../faults/setup/figures.ts";
import { send } from "../faults/setup/load.ts";
import { requireCitus } from "./setup/citus.ts";
import { type Servers, startDeployment, startServers } from "./setup/deployment.ts";
import { processorTimeOf } from "./setup/processor-time.ts";

const MERCHANTS = 24;
const CALLERS = 108;
const ROUNDS = 3;

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
