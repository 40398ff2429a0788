import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { pino } from "pino";
import { readConfig } from "../../../server/config/config.ts";
import { type RunningServer, startServer } from "../../../server/start.ts";
import { createMerchant } from "../../helpers/factories.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { makeTempDir } from "../../helpers/temp-dir.ts";
import { percentile, progress, record } from "./lib/compare.ts";
import type { Figure } from "./lib/figure.ts";

/*
 * How soon the first attempt of a healthy merchant's delivery begins while the receivers of twenty others are silent,
 * compared with the same merchant alone on the same server just before. Half of the silent receivers take a request and never
 * respond; the other half never end a TLS handshake. The time counts from the call, because a caller can't see the commit.
 */
const MERCHANTS = 20;
const SUBSCRIPTIONS = 100;
const PER_SECOND = 5;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 40);
/** How often each silent merchant issues another refund, which is delivered to all of its subscriptions. */
const SILENT_PAUSE_MS = 15_000;
const TIMES = 3;

type Call = (path: string, body: object) => Promise<{ paymentId: string }>;

async function callAs(server: RunningServer): Promise<Call> {
  const { token } = await createMerchant(server);
  return async (path, body) => {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} responded ${response.status}: ${await response.text()}`);
    return (await response.json()) as { paymentId: string };
  };
}

const pay = (call: Call) =>
  call("/sandbox/payments", { amount: { currency: "USD", value: 9_999_999 } }).then(
    ({ paymentId }) => paymentId,
  );
const refund = (call: Call, paymentId: string, requestKey: string = randomUUID()) =>
  call("/v1/refunds", {
    ...{ paymentId, requestKey, clientReferenceId: requestKey },
    amount: { currency: "USD", value: 0.01 },
  });
const subscribe = (call: Call, url: string) =>
  call("/v1/webhook/subscribe", { url, secretKey: randomUUID(), subscriptionDetails: { type: "ALL" } });

/** The merchant's server, which knows when each delivery arrived. */
async function startHealthy() {
  const arrivals = new Map<string, (at: number) => void>();
  const server = createServer(async (request, response) => {
    const at = performance.now();
    const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString("utf8"));
    response.writeHead(204).end();
    arrivals.get(data.clientReferenceId)?.(at);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    arrivalOf: (reference: string) => new Promise<number>((resolve) => arrivals.set(reference, resolve)),
  };
}

async function startSilent() {
  let connections = 0;
  const server = createSocketServer((socket) => {
    connections += 1;
    socket.on("error", () => {}).resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

async function measure(store: string, settings: Record<string, string>): Promise<[Figure, string]> {
  const dataDir = await makeTempDir();
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  const config = readConfig({ PORT: "0", DATA_DIR: dataDir, ENCRYPTION_KEY, ...settings });
  const server = await startServer(config, {
    logger: pino({ level: "silent" }),
    drainMs: 1_000,
    webhooks: { drainMs: 0 },
  });
  const [receiver, silent] = [await startHealthy(), await startSilent()];
  const healthy = await callAs(server);
  const paymentId = await pay(healthy);
  await subscribe(healthy, receiver.url);

  /** Milliseconds from each call to its attempt. */
  const sample = async (seconds: number): Promise<number[]> => {
    const attempts: Promise<number>[] = [];
    const startedAt = performance.now();
    for (let round = 0; round < seconds * PER_SECOND; round += 1) {
      await wait(Math.max(1, startedAt + (round * 1_000) / PER_SECOND - performance.now()));
      const reference = randomUUID();
      const arrival = receiver.arrivalOf(reference);
      const calledAt = performance.now();
      attempts.push(refund(healthy, paymentId, reference).then(async () => (await arrival) - calledAt));
    }
    return Promise.all(attempts);
  };

  await sample(5); // warm-up
  progress.show(`isolation, ${store}: alone`);
  const alone = await sample(SECONDS);

  progress.show(`isolation, ${store}: ${MERCHANTS * SUBSCRIPTIONS} silent subscriptions`);
  const others = await Promise.all(Array.from({ length: MERCHANTS }, () => callAs(server)));
  const payments = await Promise.all(others.map(pay));
  for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
    const scheme = index % 2 === 0 ? "http" : "https";
    await Promise.all(others.map((call) => subscribe(call, `${scheme}://127.0.0.1:${silent.port}/${index}`)));
  }
  let ended = false;
  const refundAll = async () => {
    for (let turn = 0; !ended; turn = (turn + 1) % MERCHANTS) {
      await refund(others[turn] ?? healthy, payments[turn] ?? "");
      // First all of them together, and then one after the other.
      if (turns >= MERCHANTS) await wait(SILENT_PAUSE_MS / MERCHANTS);
      turns += 1;
    }
  };
  let turns = 0;
  const refunding = refundAll();
  const beside = await sample(SECONDS);
  ended = true;
  await refunding;
  progress.clear();

  const [value, other] = [percentile(beside, 0.99), percentile(alone, 0.99)];
  const figure: Figure = {
    name: `p99 from call to first attempt beside ${MERCHANTS} merchants with ${SUBSCRIPTIONS} silent subscriptions each, ${store}`,
    unit: "ms",
    value,
    against: { name: "alone", value: other },
    ratio: value / other,
    target: `≤ ${TIMES} times`,
    reached: value <= TIMES * other,
    rounds: [[value, other]],
  };
  const told = (values: readonly number[]) =>
    [0.5, 0.99, 1].map((part) => percentile(values, part).toFixed(0)).join(", ");
  const note = `${store}: p50, p99 and longest in ms: alone ${told(alone)}; beside ${told(beside)}; ${silent.connections()} attempts at silent receivers`;
  await server.close();
  await rm(dataDir, { recursive: true });
  return [figure, note];
}

const [embedded, embeddedNote] = await measure("embedded", {});
const postgres = await startPostgres({ durable: true });
const [onPostgres, postgresNote] = await measure("PostgreSQL", { DATABASE_URL: postgres.urlOf("postgres") });
await postgres.stop();
await record("isolation", [embedded, onPostgres], [embeddedNote, postgresNote]);
process.exit();
