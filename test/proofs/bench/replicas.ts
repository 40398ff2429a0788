import { compare } from "./lib/compare.ts";
import { bench, createStore, makePayments, type Running, serve } from "./lib/frame.ts";
import { rateOf, refundsOf } from "./lib/load.ts";

/* Two replicas on one PostgreSQL server compared with one, with the same total number of calls. */
const CALLS = 32;

await bench(async (engine) => {
  const store = await createStore(engine);
  const [one, other] = [await serve(store), await serve(store)];
  const payments = await makePayments(one);
  const ratesOf = (servers: readonly Running[]) => () => {
    const targets = servers.map(({ url }) => ({ url, body: refundsOf(payments) }));
    return rateOf(targets, { connections: CALLS / servers.length });
  };
  const figure = await compare({
    name: "refunds by two replicas, PostgreSQL, 32 connections in all",
    unit: "refunds/s",
    ours: ratesOf([one, other]),
    theirs: ratesOf([one]),
    against: "by one",
    // On two cores that PostgreSQL and the callers use as well, a second process can't add much, but it must not make it
    // slower.
    atLeast: 1,
  });
  return { figures: [figure] };
});
