import { compare, record } from "./lib/compare.ts";
import { load, refundsOf } from "./lib/load.ts";
import { type Running, run } from "./lib/processes.ts";

/*
 * The cost of our HTTP layer: access, limits, validation of requests and responses, and problems. It is compared with bare
 * express with `express.json()`, and with express-openapi-validator set up to validate requests and responses. The server's own
 * processor time is measured, which callers and other programs on the machine do not change.
 */
const start = (kind: string) =>
  run({ command: [process.execPath, "test/proofs/bench/lib/http-server.ts", kind], ready: /http:.*\n/ });
const [ours, bare, validated] = await Promise.all([start("ours"), start("bare"), start("validated")]);
const body = refundsOf(["pay_settled"]);

async function measure({ url, cpuSeconds }: Running): Promise<number> {
  const before = cpuSeconds();
  const { latencies, statuses } = await load({ url, body });
  if (statuses.size !== 1 || !statuses.has(201)) throw new Error(`not all were 201: ${[...statuses]}`);
  return latencies.length / (cpuSeconds() - before);
}

const figure = {
  name: "responses of the HTTP layer without a store, 32 connections",
  unit: "responses a second of processor time",
  ours: () => measure(ours),
};
await record("http-layer", [
  await compare({
    ...figure,
    against: { name: "express-openapi-validator, both sides", measure: () => measure(validated) },
    target: { atLeast: 0.9 },
  }),
  await compare({
    ...figure,
    against: { name: "bare express", measure: () => measure(bare) },
    target: { atLeast: 0.4 },
  }),
]);
await Promise.all([ours, bare, validated].map((server) => server.stop()));
