import { compare, median, percentile, single } from "./lib/compare.ts";
import { bench, createStore, makePayments, type Running, serve } from "./lib/frame.ts";
import { load, offer, refundsOf } from "./lib/load.ts";

/*
 * Four times as many calls a second as the server can serve: how many refunds it still issues, how soon each call gets its
 * response, and how much memory that takes. The callers do not slow down when they are refused.
 */
const ADMITTED = 256;
const TIMES = 4;

/** Shares of a core that the callers, which are this process, and the server use; a pair for each round. */
type Shares = [callers: number, server: number][];

async function withShares<T>(server: Running, shares: Shares, work: () => Promise<T>): Promise<T> {
  const [startedAt, cpu, used] = [performance.now(), process.cpuUsage(), server.cpuSeconds()];
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  shares.push([(user + system) / 1e6 / seconds, (server.cpuSeconds() - used) / seconds]);
  return result;
}

const formatShares = (shares: Shares) => {
  const [callers, server] = [0, 1].map((side) => median(shares.map((pair) => pair[side] ?? 0)).toFixed(2));
  return `the callers use ${callers} of a core and the server ${server}`;
};

await bench(async (engine) => {
  const server = await serve(await createStore(engine));
  const target = { url: server.url, body: refundsOf(await makePayments(server)) };
  const shares = { full: [] as Shares, over: [] as Shares };
  /** Refunds a second with as many callers as are admitted, each of which waits for its response. */
  const capacities: number[] = [];
  const fullLoad = async () => {
    const { rate } = await withShares(server, shares.full, () => load(target, { connections: ADMITTED }));
    capacities.push(rate);
    return rate;
  };
  const rounds: {
    p99Made: number;
    p50Refused: number;
    p99Refused: number;
    mb: number;
    times: number;
    late: number;
  }[] = [];
  const counts = new Map<number, number>();
  const overload = async () => {
    const capacity = median(capacities.length > 0 ? capacities : [await fullLoad()]);
    const options = { callsPerSecond: TIMES * capacity };
    const offered = await withShares(server, shares.over, () => offer(target, options));
    for (const [status, ms] of offered.latencies) counts.set(status, (counts.get(status) ?? 0) + ms.length);
    const [made = [], refused = []] = [201, 503].map((status) => offered.latencies.get(status));
    rounds.push({
      p99Made: percentile(made, 0.99),
      p50Refused: percentile(refused, 0.5),
      p99Refused: percentile(refused, 0.99),
      mb: server.memoryMb(),
      times: offered.offered / capacity,
      late: offered.lateMs,
    });
    return made.length / offered.tookSeconds;
  };
  const figure = await compare({
    name: "refunds at four times as many calls a second as can be served, PostgreSQL",
    unit: "refunds/s",
    ours: overload,
    theirs: fullLoad,
    against: "at as many as can be",
    atLeast: 0.8,
  });
  const all = (name: keyof (typeof rounds)[number]) => rounds.map((round) => round[name]);
  const responses = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count.toLocaleString("en")} were ${status}`);
  const times = all("times").map((one) => one.toFixed(1));
  return {
    figures: [
      figure,
      single("p99 of a refund under four times the load", "ms", all("p99Made"), 1_500),
      single("p50 of a refusal under four times the load", "ms", all("p50Refused")),
      single("p99 of a refusal under four times the load", "ms", all("p99Refused"), 400),
      single("resident memory under four times the load", "MB", all("mb"), 350),
    ],
    notes: [
      `Of the responses under four times the load, ${responses.join(" and ")}.`,
      `In each round callers made this many times the calls that can be served: ${times.join(", ")}.`,
      `At the load that can be served, ${formatShares(shares.full)}; at four times the load, ${formatShares(shares.over)}.`,
      `The event loop of the callers was up to ${median(all("late")).toFixed(0)} ms late (p99), which is part of these times.`,
    ],
  };
});
