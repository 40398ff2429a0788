import { compare } from "./lib/compare.ts";
import { bench, type Running, start } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";

/*
 * The cost of our HTTP layer: access, limits, validation of requests and responses, and problems. It is compared with bare
 * express with `express.json()`, and with express-openapi-validator set up to validate requests and responses. The server's own
 * processor time is measured, which callers and other programs on the machine do not change.
 */
const PROGRAM = "test/proofs/bench/lib/http-server.ts";
const body = refundsOf(["pay_settled"]);

const measure =
  ({ url, cpuSeconds }: Running) =>
  async () => {
    const before = cpuSeconds();
    const { latencies } = await load({ url, body });
    return latencies.length / (cpuSeconds() - before);
  };

await bench(async () => {
  const startKind = (kind: string) =>
    start({ command: [process.execPath, PROGRAM, kind], ready: /http:.*\n/ });
  const [ours, bare, validated] = [
    await startKind("ours"),
    await startKind("bare"),
    await startKind("validated"),
  ];
  const figure = {
    name: "responses of the HTTP layer without a store, 32 connections",
    unit: "responses a second of processor time",
    ours: measure(ours),
  };
  const both = { theirs: measure(validated), against: "express-openapi-validator, both sides", atLeast: 1 };
  const alone = { theirs: measure(bare), against: "bare express", atLeast: 0.45 };
  return { figures: [await compare({ ...figure, ...both }), await compare({ ...figure, ...alone })] };
});
