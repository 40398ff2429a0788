import { startPostgres } from "../../helpers/postgres.ts";
import { compare, median, percentile, record, single } from "./lib/compare.ts";
import { load, offer, refundsOf } from "./lib/load.ts";
import { makePayments, runServer } from "./lib/processes.ts";

/*
 * Four times as many calls a second as the server can serve: how many refunds it still issues, how soon each call gets its
 * response, and how much memory that takes. The callers do not slow down when they are refused.
 */
const ADMITTED = 256;
const TIMES = 4;

const postgres = await startPostgres({ durable: true });
const server = await runServer({ databaseUrl: postgres.urlOf("postgres") });
const payments = await makePayments(server, 64);
const target = { url: server.url, body: refundsOf(payments) };

/** The processor time of the callers, which are this process, and of the server meanwhile. */
type Shares = { callers: number[]; server: number[] };

async function withShares<Result>(
  { callers, server: ours }: Shares,
  work: () => Promise<Result>,
): Promise<Result> {
  const [startedAt, cpu, used] = [performance.now(), process.cpuUsage(), server.cpuSeconds()];
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  callers.push((user + system) / 1e6 / seconds);
  ours.push((server.cpuSeconds() - used) / seconds);
  return result;
}

const shares = { full: { callers: [], server: [] } as Shares, over: { callers: [], server: [] } as Shares };

/** Refunds a second with as many callers as are admitted, each of which waits for its response. */
const capacities: number[] = [];
async function fullLoad(): Promise<number> {
  const { rate } = await withShares(shares.full, () => load(target, { connections: ADMITTED }));
  capacities.push(rate);
  return rate;
}

const p99s = { made: [] as number[], refused: [] as number[] };
const p50sRefused: number[] = [];
const memory: number[] = [];
const counts = new Map<number, number>();
const offers: number[] = [];
const late: number[] = [];
async function overload(): Promise<number> {
  const capacity = median(capacities.length > 0 ? capacities : [await fullLoad()]);
  const { latencies, offered, tookSeconds, lateMs } = await withShares(shares.over, () =>
    offer(target, { callsPerSecond: TIMES * capacity }),
  );
  for (const [status, ms] of latencies) counts.set(status, (counts.get(status) ?? 0) + ms.length);
  const made = latencies.get(201) ?? [];
  p99s.made.push(percentile(made, 0.99));
  p99s.refused.push(percentile(latencies.get(503) ?? [], 0.99));
  p50sRefused.push(percentile(latencies.get(503) ?? [], 0.5));
  memory.push(server.memoryMb());
  offers.push(offered / capacity);
  late.push(lateMs);
  return made.length / tookSeconds;
}

const figure = await compare({
  name: "refunds at four times as many calls a second as can be served, PostgreSQL",
  unit: "refunds/s",
  ours: overload,
  against: { name: "at as many as can be", measure: fullLoad },
  target: { atLeast: 0.8 },
});
const formatShares = ({ callers, server: ours }: Shares) =>
  `the callers use ${median(callers).toFixed(2)} of a core and the server ${median(ours).toFixed(2)}`;
const responses = [...counts]
  .sort(([a], [b]) => a - b)
  .map(([status, count]) => `${count.toLocaleString("en")} were ${status}`);
await record(
  "backpressure",
  [
    figure,
    single("p99 of a refund under four times the load", "ms", p99s.made, 1_500),
    single("p50 of a refusal under four times the load", "ms", p50sRefused, undefined),
    single("p99 of a refusal under four times the load", "ms", p99s.refused, 400),
    single("resident memory under four times the load", "MB", memory, 350),
  ],
  [
    `Of the responses under four times the load, ${responses.join(" and ")}.`,
    `In each round callers made this many times the calls that can be served: ${offers.map((times) => times.toFixed(1)).join(", ")}.`,
    `At the load that can be served, ${formatShares(shares.full)}; at four times the load, ${formatShares(shares.over)}.`,
    `The event loop of the callers was up to ${median(late).toFixed(0)} ms late (p99), which is part of these times.`,
  ],
);
await server.stop();
await postgres.stop();
