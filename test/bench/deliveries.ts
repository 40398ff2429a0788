import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { startPostgres } from "../helpers/postgres.ts";
import { compare, record } from "./lib/compare.ts";
import { runServer } from "./lib/processes.ts";

/*
 * Deliveries a second to a fast receiver, signed, leased and recorded: against POSTs of the same bytes by the same HTTP
 * client, as many at a time as the server has in hand for one merchant. The receiver keeps its first answers back until
 * all events are made; the time counts from then on.
 */
const SUBSCRIPTIONS = 8;
const EVENTS = Number(process.env.BENCH_EVENTS ?? 500);
const IN_HAND = 64;

let arrived = 0;
/** Answers that are kept back; undefined while answers are given at once. */
let keptBack: (() => void)[] | undefined;
let waiting: { until: number; resolve: () => void } | undefined;
let sample = { headers: {} as Record<string, string>, body: "" };
const receiver = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString("utf8");
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  sample = { headers: headers as Record<string, string>, body };
  const answer = () => {
    response.writeHead(204).end();
    arrived += 1;
    if (waiting && arrived >= waiting.until) waiting.resolve();
  };
  if (keptBack) keptBack.push(answer);
  else answer();
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

/** How many arrive a second, from the moment at which `begin` has resolved. */
async function rateOfArrivals(begin: () => Promise<void>, count = EVENTS * SUBSCRIPTIONS): Promise<number> {
  arrived = 0;
  const all = new Promise<void>((resolve) => {
    waiting = { until: count, resolve };
  });
  await begin();
  const startedAt = performance.now();
  await all;
  return count / ((performance.now() - startedAt) / 1000);
}

const postgres = await startPostgres({ durable: true });
const server = await runServer({ databaseUrl: postgres.urlOf("postgres") });
const call = async (path: string, body: object) => {
  const response = await fetch(server.url + path, {
    method: "POST",
    headers: { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
};
for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
  await call("/v1/webhook/subscribe", {
    url: `${receiverUrl}/${index}`,
    secretKey: "9f2c1b7ae04d5386c1f7a2b9d0e43c58",
    subscriptionDetails: { type: "ALL" },
  });
}

/** Makes events, a few at a time, while nothing is answered; then lets the receiver answer. */
async function deliver(): Promise<void> {
  keptBack = [];
  let left = EVENTS;
  const caller = async () => {
    for (; left > 0; ) {
      left -= 1;
      await call("/sandbox/events", { type: "account.linked", resourceId: "acc_1" });
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  const answers = keptBack;
  keptBack = undefined;
  for (const answer of answers) answer();
}

const pool = new Pool(receiverUrl, { connections: IN_HAND, pipelining: 1 });
async function post(): Promise<void> {
  let left = EVENTS * SUBSCRIPTIONS;
  const caller = async () => {
    for (; left > 0; ) {
      left -= 1;
      const response = await pool.request({ path: "/", method: "POST", ...sample });
      await response.body.dump();
    }
  };
  for (let callers = 0; callers < IN_HAND; callers += 1) caller().catch(fail);
}

function fail(error: unknown): void {
  throw error;
}

await record("deliveries", [
  await compare({
    name: "deliveries to a fast receiver, PostgreSQL",
    unit: "deliveries/s",
    ours: () => rateOfArrivals(deliver),
    against: { name: "POSTs by undici", measure: () => rateOfArrivals(post) },
    target: { atLeast: 0.4 },
    floor: 800,
  }),
]);
await server.stop();
await pool.close();
receiver.close();
receiver.closeAllConnections();
await postgres.stop();
