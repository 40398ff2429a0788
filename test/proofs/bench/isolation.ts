import { setTimeout } from "node:timers/promises";
import { createMerchant, refundOf } from "../../helpers/factories.ts";
import { listenForSockets } from "../../helpers/network/local-server.ts";
import { median, percentile, progress, single, toComparison, toSpread } from "./lib/compare.ts";
import {
  bench,
  createStore,
  keepUntilEnd,
  makePayments,
  receive,
  serveHere,
  subscribe,
} from "./lib/frame.ts";
import { options } from "./lib/options.ts";

/*
 * How soon the first attempt of a healthy merchant's delivery begins while the receivers of twenty others are silent,
 * compared with the same merchant alone on the same server just before. Half of the silent receivers take a request and never
 * respond; the other half never end a TLS handshake. The time counts from the call, because a caller can't see the commit.
 */
const MERCHANTS = 20;
const SUBSCRIPTIONS = 100;
const SECONDS = options.seconds ?? 40;
/** How often each silent merchant issues another refund, which is delivered to all of its subscriptions. */
const SILENT_PAUSE_MS = 15_000;
/** Calls a second of the healthy merchant. */
const PER_SECOND = 5;

type Server = Awaited<ReturnType<typeof serveHere>>;

/** A new merchant with a receiver. The function refunds, and resolves with the milliseconds from the call to the first attempt. */
async function startHealthy(server: Server): Promise<() => Promise<number>> {
  const { token } = await createMerchant(server);
  const [payment = ""] = await makePayments(server, 1, token);
  const arrivals = new Map<string, (atMs: number) => void>();
  const url = await receive((body, _request, response) => {
    const atMs = performance.now();
    response.writeHead(204).end();
    arrivals.get(JSON.parse(body).data.requestKey)?.(atMs);
  });
  await subscribe(server, url, token);
  return async () => {
    const refund = refundOf(payment);
    const arrival = Promise.withResolvers<number>();
    arrivals.set(refund.requestKey, arrival.resolve);
    const calledAtMs = performance.now();
    await server.call("/v1/refunds", refund, token);
    return (await arrival.promise) - calledAtMs;
  };
}

/** A new merchant whose subscriptions all lead to this port. The function refunds. */
async function createSilent(server: Server, port: number): Promise<() => Promise<void>> {
  const { token } = await createMerchant(server);
  const [payment = ""] = await makePayments(server, 1, token);
  for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
    const scheme = index % 2 === 0 ? "http" : "https";
    await subscribe(server, `${scheme}://127.0.0.1:${port}/${index}`, token);
  }
  return () => server.call("/v1/refunds", refundOf(payment), token);
}

/** Attempts at a steady rate, whether or not the ones before have come. */
async function sampleAttempts(attempt: () => Promise<number>, seconds: number): Promise<number[]> {
  const attempts: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let round = 0; round < seconds * PER_SECOND; round += 1) {
    await setTimeout(Math.max(1, startedAt + (round * 1_000) / PER_SECOND - performance.now()));
    attempts.push(attempt());
  }
  return Promise.all(attempts);
}

await bench(
  async (engine) => {
    const server = await serveHere(await createStore(engine), { drainMs: 1_000, webhooks: { drainMs: 0 } });
    const attempt = await startHealthy(server);
    let connections = 0;
    const silent = await listenForSockets((socket) => {
      connections += 1;
      socket.resume();
    });
    const { port } = keepUntilEnd(silent);

    await sampleAttempts(attempt, 5); // warm-up
    progress.show(`isolation, ${engine}: alone`);
    const alone = await sampleAttempts(attempt, SECONDS);
    progress.show(`isolation, ${engine}: ${MERCHANTS * SUBSCRIPTIONS} silent subscriptions`);
    const others = await Promise.all(Array.from({ length: MERCHANTS }, () => createSilent(server, port)));
    let ended = false;
    const refundAll = async () => {
      for (let turn = 0; !ended; turn += 1) {
        await others[turn % MERCHANTS]?.();
        // First all of them together, and then one after the other.
        if (turn >= MERCHANTS) await setTimeout(SILENT_PAUSE_MS / MERCHANTS);
      }
    };
    const refunding = refundAll();
    const beside = await sampleAttempts(attempt, SECONDS);
    ended = true;
    await refunding;

    const figure = {
      name: `p99 from call to first attempt beside ${MERCHANTS} merchants with ${SUBSCRIPTIONS} silent subscriptions each, ${engine}`,
      ...{ unit: "ms", against: "alone", atMost: engine === "PostgreSQL" ? 2.5 : 3 },
    };
    return {
      figures: [
        single(`call to first attempt, idle server, ${engine}, p50`, "ms", [median(alone)], 50),
        single(`call to first attempt, idle server, ${engine}, p99`, "ms", [percentile(alone, 0.99)], 300),
        toComparison(figure, [[percentile(beside, 0.99), percentile(alone, 0.99)]]),
      ],
      notes: [
        `${engine}: p50, p99 and longest in ms: alone ${toSpread(alone)}; beside ${toSpread(beside)}; ${connections} attempts at silent receivers`,
      ],
    };
  },
  ["embedded", "PostgreSQL"],
);
