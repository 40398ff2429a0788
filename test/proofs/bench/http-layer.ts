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
  const figures = [await compare({ ...figure, ...both }), await compare({ ...figure, ...alone })];

  const [ofValidated = 0, ofBare = 0] = figures.map(({ against }) => 1e6 / (against?.value ?? 0));
  const [ofOurs = 0] = figures.map(({ value }) => 1e6 / value);
  return {
    figures,
    notes: [
      `µs of processor time for a response: ours ${ofOurs.toFixed(0)}, express with express-openapi-validator ${ofValidated.toFixed(0)}, bare express ${ofBare.toFixed(0)}. ` +
        `So express that only validates is at most ${(ofBare / ofValidated).toFixed(2)} times as fast as bare express.`,
    ],
  };
});
