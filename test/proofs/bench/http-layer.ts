import { rm } from "node:fs/promises";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { compare } from "./lib/compare.ts";
import { atEnd, bench, type Running, start } from "./lib/frame.ts";
import { load, refundsOf } from "./lib/load.ts";
import { listParts, listTimes, type Parts, profileTime, profileTo } from "./lib/parts.ts";

/*
 * The cost of our HTTP layer: access, limits, validation of requests and responses, and problems. It is compared with bare
 * express with `express.json()`, and with express-openapi-validator set up to validate requests and responses. The server's own
 * processor time is measured, which callers and other programs on the machine do not change. A last round, whose rate doesn't
 * count, shows where that time goes.
 */
const PROGRAM = "test/proofs/bench/lib/http-server.ts";
const body = refundsOf(["pay_settled"]);

/** Functions of Node count for the part that calls them. */
const PARTS: Parts = [
  ["write to the socket, which wakes the caller", /^node:internal\/stream_base_commons$/],
  ["find the route and the next step: express", /node_modules\/(express|router)\//],
  ["limit concurrency", /server\/(rate-limit\/.*|http\/overload)\.ts$/],
  [
    "authenticate, with the deadline",
    /server\/(auth\/.*|http\/middleware\/(access|deadline))\.ts$|\/p-timeout\//,
  ],
  ["read and scan the body", /server\/(json\/scan|http\/middleware\/body)\.ts$|\/(body-parser|raw-body)\//],
  [
    "check the request",
    /server\/contract\/(validate-request|decimal-literals|violations)\.ts$|\/express-openapi-validator\//,
  ],
  ["decide", /server\/(http\/handlers|domain)\/.*\.ts$/],
  [
    "check the response and send it",
    /server\/(contract\/validate-response|http\/middleware\/(response-guard|send-response))\.ts$/,
  ],
  ["set headers", /server\/http\/middleware\/(security-headers|request-head)\.ts$/],
  ["log and trace, which are off", /server\/http\/middleware\/(request-log|trace-requests)\.ts$/],
];

const measure =
  ({ url, cpuSeconds }: Running) =>
  async () => {
    const before = cpuSeconds();
    const { latencies } = await load({ url, body });
    return latencies.length / (cpuSeconds() - before);
  };

await bench(async () => {
  const startKind = (kind: string, env = {}) =>
    start({ command: [process.execPath, PROGRAM, kind], ready: /http:.*\n/, env });
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

  const profiles = await makeTempDir();
  atEnd(() => rm(profiles, { recursive: true, force: true }));
  const profiled = await startKind("ours", profileTo(profiles));
  await measure(profiled)(); // warm-up
  const from = profileTime();
  const microseconds = 1e6 / (await measure(profiled)());
  const to = profileTime();
  await profiled.stop();
  const rest = "receive: sockets and Node's parser";
  const parts = await listParts(profiles, PARTS, { from, to, microseconds, rest });
  const [ofValidated = 0, ofBare = 0] = figures.map(({ against }) => 1e6 / (against?.value ?? 0));
  const [ofOurs = 0] = figures.map(({ value }) => 1e6 / value);
  return {
    figures,
    notes: [
      `µs of processor time for a response, with the profiler: ${microseconds.toFixed(0)}: ${parts}`,
      `The server's one thread can send at most ${(1e6 / microseconds).toFixed(0)} a second with the profiler, and without it ${(1e6 / ofOurs).toFixed(0)}.`,
      `Without the profiler, in µs: ${listTimes([
        ["ours", ofOurs],
        ["express with express-openapi-validator", ofValidated],
        ["bare express", ofBare],
      ])}. So express that only validates is at most ${(ofBare / ofValidated).toFixed(2)} times as fast as bare express.`,
    ],
  };
});
