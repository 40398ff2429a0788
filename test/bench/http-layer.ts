import { compare, record } from "./lib/compare.ts";
import { rateOf, refundsOf } from "./lib/load.ts";
import { run } from "./lib/processes.ts";

/* What our HTTP layer costs: access, validation both ways and problems, against bare express with `express.json()`. */
const ours = await run(["test/bench/lib/http-server.ts", "ours"]);
const bare = await run(["test/bench/lib/http-server.ts", "bare"]);
const body = refundsOf(["pay_settled"]);

await record("http-layer", [
  await compare({
    name: "answers of the HTTP layer without a store, 32 connections",
    unit: "answers/s",
    ours: () => rateOf({ url: ours.url, body }),
    against: { name: "bare express", measure: () => rateOf({ url: bare.url, body }) },
    target: { atLeast: 0.5 },
  }),
]);
await Promise.all([ours.stop(), bare.stop()]);
