import { startIssuer } from "../../helpers/issuer.ts";
import { createPayment } from "../../helpers/store-factories.ts";
import { compare, median, percentile, report } from "./compare.ts";
import { bench, createStore, keepUntilEnd, type Running, serve } from "./frame.ts";
import { offer, rateOf, refundsOf, type Target } from "./load.ts";

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
  { times: 2, callers: 400, keptAtLeast: 0.9, madeMs: 1_000, refusedMs: 300 },
  { times: 2, callers: 1_000, keptAtLeast: 0.9, madeMs: 1_000, refusedMs: 300 },
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
  for (const { times, callers, keptAtLeast, madeMs, refusedMs } of CASES) {
    const capacities: number[] = [];
    /** Refunds a second when each caller waits for its response. */
    const fullLoad = async () => {
      const rate = await rateOf(targets, FULL_LOAD_PER_MERCHANT);
      capacities.push(rate);
      return rate;
    };
    const rounds: (Awaited<ReturnType<typeof offer>> & { mb: number })[] = [];
    const overload = async () => {
      const capacity = median(capacities); // of at least one, because the warm-up begins with theirs
      const round = await offer(targets, { callsPerSecond: times * capacity, connections: callers });
      rounds.push({ ...round, mb: server.memoryMb() });
      return round.made.length / round.tookSeconds;
    };
    const name = `${times} times the load of ${callers.toLocaleString("en")} callers`;
    const sides = { ours: overload, theirs: fullLoad, against: "as many as can be served" };
    await compare(`refunds at ${name}`, "refunds/s", { ...sides, atLeast: keptAtLeast });
    const p99 = (of: "made" | "refused") =>
      rounds.filter((round) => round[of].length > 0).map((round) => percentile(round[of], 0.99));
    report(`p99 of a refund at ${name}`, "ms", p99("made"), { atMost: madeMs });
    if (p99("refused").length > 0)
      report(`p99 of a refusal at ${name}`, "ms", p99("refused"), { atMost: refusedMs });
    const memory = rounds.map(({ mb }) => mb);
    report(`resident memory at ${name}`, "MB", memory, { atMost: 350 });
  }
});
