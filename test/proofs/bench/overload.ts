import { startIssuer } from "../../helpers/issuer.ts";
import { createPayment } from "../../helpers/store-factories.ts";
import { compare, median, percentile, report } from "./compare.ts";
import { bench, createStore, keepUntilEnd, serve, startKind } from "./frame.ts";
import { offer, rateOf, refundsOf, type Target } from "./load.ts";

/*
 * Twice as many calls a second as the server can serve, from 1,000 callers who do not slow down when they are refused: how many
 * refunds it still issues, and how soon each call gets its response. A server in production, so that tokens are verified, with
 * its logs.
 */
const MERCHANTS = 16;
const FULL_LOAD_PER_MERCHANT = 16; // in total fewer than a server works on at a time, so that nobody is refused
const CALLERS = 1_000;

/** Merchants with their tokens and settled payments. */
async function startProduction(): Promise<Target[]> {
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
  return targets;
}

type Load = Awaited<ReturnType<typeof offer>>;

await bench(async () => {
  const targets = await startProduction();
  const express = await startKind("refusing");
  const refusing = targets.map((target) => ({ ...target, url: express.url }));
  const offered = (to: readonly Target[], times: number) =>
    offer(to, { callsPerSecond: times * median(capacities), connections: CALLERS });
  const capacities: number[] = [];
  const rounds: { full: Load; bare: Load; twice: Load }[] = [];
  /** Refunds a second when each caller waits for its response. */
  const fullLoad = async () => {
    capacities.push(await rateOf(targets, FULL_LOAD_PER_MERCHANT));
    return median(capacities);
  };
  const overload = async () => {
    const twice = await offered(targets, 2);
    rounds.push({ twice, full: await offered(targets, 1), bare: await offered(refusing, 2) });
    return twice.made.length / twice.tookSeconds;
  };
  const sides = { ours: overload, theirs: fullLoad, against: "as many as can be served" };
  await compare("refunds at twice the load", "refunds/s", { ...sides, atLeast: 0.9 });
  const p99 = (times: readonly number[]) => percentile(times, 0.99);
  const refunds = rounds.map(({ twice, full }) => p99(twice.made) / p99(full.made));
  report("p99 of a refund, compared with as many calls as can be served", "times", refunds, { atMost: 4 });
  const withRefusals = rounds.filter(({ twice }) => twice.refused.length > 0);
  const refusals = withRefusals.map(({ twice, bare }) => p99(twice.refused) / p99(bare.refused));
  report("p99 of a refusal, compared with express that refuses all", "times", refusals, { atMost: 2 });
});
