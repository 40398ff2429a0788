import { setTimeout } from "node:timers/promises";
import { createMerchant } from "../../helpers/factories.ts";
import { percentile, progress, single, toComparison, toSpread } from "./lib/compare.ts";
import {
  atEnd,
  bench,
  createStore,
  makePayments,
  receive,
  sampleAttempts,
  serve,
  startAttempts,
  subscribe,
} from "./lib/frame.ts";
import { refundsOf } from "./lib/load.ts";

/*
 * How soon the first attempt of a healthy merchant's delivery begins while the receivers of 300 others respond, but only after 14
 * seconds, just before their attempts would time out; and how many more attempts at these two servers make than one.
 */
const MERCHANTS = 300;
const RESPONSE_MS = 14_000;
/** Enough to be attempted all the while. */
const DELIVERIES_EACH = 12;

await bench(async (engine) => {
  const store = await createStore(engine);
  const database = await store.open();
  atEnd(() => database.close());
  const server = await serve(store);
  let begun = 0;
  const url = await receive((_body, _request, response) => {
    begun += 1;
    void setTimeout(RESPONSE_MS, undefined, { ref: false }).then(() => response.writeHead(204).end());
  });
  const { token } = await createMerchant({ database });
  const attempt = await startAttempts(server, (await makePayments(server, 1, token))[0] ?? "", token);

  /** Milliseconds from each call of the healthy merchant to its attempt, and the attempts at the others a second. */
  const measure = async (what: string) => {
    progress.show(`slow-receivers, ${what}`);
    const before = begun;
    const startedAt = performance.now();
    // Twice the time of an attempt: they begin in waves.
    const waits = await sampleAttempts(attempt, (2 * RESPONSE_MS) / 1_000);
    return { waits, rate: ((begun - before) * 1_000) / (performance.now() - startedAt) };
  };

  const alone = await measure("alone");
  const merchants: { token: string; body: () => string }[] = [];
  while (merchants.length < MERCHANTS) {
    const merchant = await createMerchant({ database });
    await subscribe(server, url, merchant.token);
    merchants.push({ token: merchant.token, body: refundsOf(await makePayments(server, 1, merchant.token)) });
  }
  // As if all of them had responded quickly until now.
  await database.db.updateTable("subscriptions").set({ timeouts: 0 }).execute();
  const refundAll = async () => {
    for (let count = 0; count < DELIVERIES_EACH; count += 1) {
      for (const { token, body } of merchants) await server.call("/v1/refunds", JSON.parse(body()), token);
    }
  };
  const [change] = await Promise.all([measure("becoming slow"), refundAll()]);
  await setTimeout(RESPONSE_MS); // until the first of these attempts have ended
  const one = await measure("one server");
  await serve(store);
  await setTimeout(RESPONSE_MS);
  const two = await measure("two servers");

  const beside = `beside ${MERCHANTS} merchants whose receivers respond after ${RESPONSE_MS / 1_000} s`;
  const rates = {
    name: `attempts at these receivers by two servers`,
    unit: "attempts/s",
    against: "by one",
    atLeast: 1.8,
  };
  return {
    figures: [
      single(`p99 from call to first attempt ${beside}`, "ms", [percentile(one.waits, 0.99)], 1_000),
      toComparison(rates, [[two.rate, one.rate]]),
    ],
    notes: [
      `p50, p99 and longest in ms: alone ${toSpread(alone.waits)}; while the receivers of ${MERCHANTS} others become slow ${toSpread(change.waits)}; ${beside} ${toSpread(one.waits)}; by two servers ${toSpread(two.waits)}`,
    ],
  };
});
