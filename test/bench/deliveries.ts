import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { startPostgres } from "../helpers/postgres.ts";
import { compare, record } from "./lib/compare.ts";
import { runServer } from "./lib/processes.ts";

/*
 * Deliveries a second to a fast receiver, from the first that arrives to the last, while the events are still being made:
 * against POSTs of the same bytes by the same HTTP client, as many at a time as the server has in hand for one merchant.
 */
const SUBSCRIPTIONS = 8;
const EVENTS = Number(process.env.BENCH_EVENTS ?? 500);
const IN_HAND = 64;

let arrived = 0;
let firstAt = 0;
let waiting: { until: number; resolve: () => void } | undefined;
let sample = { headers: {} as Record<string, string>, body: "" };
const receiver = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString("utf8");
  response.writeHead(204).end();
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  sample = { headers: headers as Record<string, string>, body };
  firstAt ||= performance.now();
  arrived += 1;
  if (waiting && arrived >= waiting.until) waiting.resolve();
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

/** How many arrive a second while `send` and what follows of it makes them arrive. */
async function rateOfArrivals(count: number, send: () => Promise<unknown>): Promise<number> {
  arrived = 0;
  firstAt = 0;
  const all = new Promise<void>((resolve) => {
    waiting = { until: count, resolve };
  });
  await send();
  await all;
  return count / ((performance.now() - firstAt) / 1000);
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

/** A few callers at a time, so that events come faster than they can be delivered. */
async function makeEvents(): Promise<void> {
  let left = EVENTS;
  const caller = async () => {
    for (; left > 0; ) {
      left -= 1;
      await call("/sandbox/events", { type: "account.linked", resourceId: "acc_1" });
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
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
  await Promise.all(Array.from({ length: IN_HAND }, caller));
}

await record("deliveries", [
  await compare({
    name: "deliveries to a fast receiver, PostgreSQL",
    unit: "deliveries/s",
    ours: () => rateOfArrivals(EVENTS * SUBSCRIPTIONS, makeEvents),
    against: { name: "POSTs by undici", measure: () => rateOfArrivals(EVENTS * SUBSCRIPTIONS, post) },
    target: { atLeast: 0.4 },
    floor: 800,
  }),
]);
await server.stop();
await pool.close();
receiver.close();
receiver.closeAllConnections();
await postgres.stop();
