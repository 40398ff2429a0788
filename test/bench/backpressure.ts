import { startPostgres } from "../helpers/postgres.ts";
import { compare, percentile, progress, record, single } from "./lib/compare.ts";
import { load, refundsOf } from "./lib/load.ts";
import { makePayments, runServer } from "./lib/processes.ts";

/*
 * Four times as many calls at once as the server admits, each repeated as soon as it is answered: the refunds that are
 * made against those made with a quarter of the callers, how long the answers take, and what memory it costs.
 */
const ADMITTED = 256;
const TIMES = 4;

const postgres = await startPostgres({ durable: true });
const server = await runServer({ databaseUrl: postgres.urlOf("postgres") });
const payments = await makePayments(server, 64);
const target = { url: server.url, body: refundsOf(payments) };

const p99s: number[] = [];
const memory: number[] = [];
const counts = new Map<number, number>();
async function overload(): Promise<number> {
  const { rate, latencies, statuses } = await load(target, { connections: TIMES * ADMITTED });
  p99s.push(percentile(latencies, 0.99));
  memory.push(server.memoryMb());
  for (const [status, count] of statuses) counts.set(status, (counts.get(status) ?? 0) + count);
  return rate;
}

const figure = await compare({
  name: "refunds at four times as many calls as are admitted, PostgreSQL",
  unit: "refunds/s",
  ours: overload,
  against: {
    name: "at as many as are admitted",
    measure: async () => (await load(target, { connections: ADMITTED })).rate,
  },
  target: { atLeast: 0.7 },
});
progress("");
const answers = [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
await record(
  "backpressure",
  [
    figure,
    single("p99 of a refund under four times the load", "ms", p99s, undefined),
    single("resident memory under four times the load", "MB", memory, 350),
  ],
  [`answers under four times the load: ${answers.join(", ")}`],
);
await server.stop();
await postgres.stop();
