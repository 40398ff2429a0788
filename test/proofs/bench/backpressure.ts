import { startIssuer } from "../../helpers/issuer.ts";
import { createPayment } from "../../helpers/store-factories.ts";
import { compare, median, percentile, single } from "./lib/compare.ts";
import { bench, createStore, keepUntilEnd, type Running, serve } from "./lib/frame.ts";
import { offer, rateOf, refundsOf, type Target } from "./lib/load.ts";

/*
 * More calls a second than the server can serve, from callers who do not slow down when they are refused: how many refunds it still
 * issues, how soon each call gets its response, and how much memory that takes. A server in production, so that every token is
 * verified, with its logs.
 */
const MERCHANTS = 16;
/** Fewer than a server works on at a time, so that nobody is refused. */
const FULL_LOAD_PER_MERCHANT = 16;

/** Calls a second, in times of what can be served; their connections; and the targets. */
const CASES = [
  { times: 2, callers: 1_000, keptAtLeast: 0.9, madeMs: 1_000, refusedMs: 300 },
  { times: 2, callers: 400, keptAtLeast: 0.9, madeMs: 1_000, refusedMs: 300 },
  { times: 4, callers: 400, keptAtLeast: 0.7, madeMs: 1_500, refusedMs: 500 },
  { times: 4, callers: 1_000, keptAtLeast: 0.5, madeMs: 1_500, refusedMs: 500 },
];

/** Merchants with their tokens and settled payments. */
async function startProduction(): Promise<[Running, Target[]]> {
  const store = await createStore("PostgreSQL");
  const issuer = keepUntilEnd(await startIssuer());
  const env = { MODE: "production", RATE_LIMIT: "off", LOG_LEVEL: "info", ...issuer.env };
  const server = await serve(store, env);
  const { db, close } = await store.open();
  const exp = Math.floor(Date.now() / 1000) + 3_600;
  const opened = Array.from({ length: MERCHANTS }, async (_, index) => {
    const merchant = `merchant_${index}`;
    const payments = Array.from({ length: 8 }, () =>
      createPayment(db, { merchant, amountCents: 999_999_900 }),
    );
    const ids = (await Promise.all(payments)).map(({ paymentId }) => paymentId);
    const token = await issuer.token({ merchant_id: merchant, exp });
    return { url: server.url, token, body: refundsOf(ids) };
  });
  const targets = await Promise.all(opened);
  await close();
  return [server, targets];
}

await bench(async () => {
  const [server, targets] = await startProduction();
  /** Refunds a second when each caller waits for its response. */
  const fullLoad = () => rateOf(targets, { connections: FULL_LOAD_PER_MERCHANT });

  const figures = [];
  const notes = [];
  for (const { times, callers, keptAtLeast, madeMs, refusedMs } of CASES) {
    const rounds: Record<"made" | "mb" | "times" | "late", number>[] = [];
    /** The p99 of each round that had refusals. */
    const refusals: number[] = [];
    const capacities: number[] = [];
    const overload = async () => {
      if (capacities.length === 0) capacities.push(await fullLoad());
      const capacity = median(capacities);
      const offered = await offer(targets, { callsPerSecond: times * capacity, connections: callers });
      const [made = [], refused = []] = [201, 503].map((status) => offered.latencies.get(status));
      if (refused.length > 0) refusals.push(percentile(refused, 0.99));
      rounds.push({
        made: percentile(made, 0.99),
        mb: server.memoryMb(),
        times: offered.offered / capacity,
        late: offered.lateMs,
      });
      return made.length / offered.tookSeconds;
    };
    const all = (name: keyof (typeof rounds)[number]) => rounds.map((round) => round[name]);
    const name = `${times} times the load, ${callers.toLocaleString("en")} callers`;
    figures.push(
      await compare({
        name: `refunds at ${name}, production tokens`,
        unit: "refunds/s",
        ours: overload,
        theirs: async () => {
          const rate = await fullLoad();
          capacities.push(rate);
          return rate;
        },
        against: "at as many as can be",
        atLeast: keptAtLeast,
      }),
      single(`p99 of a refund at ${name}`, "ms", all("made"), madeMs),
      ...(refusals.length > 0 ? [single(`p99 of a refusal at ${name}`, "ms", refusals, refusedMs)] : []),
      single(`resident memory at ${name}`, "MB", all("mb"), 350),
    );
    notes.push(
      `At ${name}, callers made ${median(all("times")).toFixed(1)} times the calls that can be served, and their event loop ` +
        `was up to ${median(all("late")).toFixed(0)} ms late (p99), which is part of the times above.${refusals.length > 0 ? "" : " No call was refused."}`,
    );
  }
  return { figures, notes };
});
