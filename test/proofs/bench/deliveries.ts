import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import { startPostgres } from "../../helpers/postgres.ts";
import { compare, median, record } from "./lib/compare.ts";
import type { Figure } from "./lib/figure.ts";
import { runServer } from "./lib/processes.ts";

/*
 * Deliveries a second to a fast receiver, signed, leased and recorded, compared with POSTs of the same bytes by the same HTTP
 * client, with as many in parallel as the server has in progress for one merchant. The receiver holds its first responses
 * back until all events exist; the time starts then.
 */
const SUBSCRIPTIONS = 8;
const EVENTS = Number(process.env.BENCH_EVENTS ?? 500);
const IN_HAND = 64;

let arrived = 0;
/** Responses that are held back; undefined while the receiver responds at once. */
let keptBack: (() => void)[] | undefined;
let waiting: { until: number; resolve: () => void } | undefined;
let sample = { headers: {} as Record<string, string>, body: "" };
const receiver = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString("utf8");
  const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
  sample = { headers: headers as Record<string, string>, body };
  const respond = () => {
    response.writeHead(204).end();
    arrived += 1;
    if (waiting && arrived >= waiting.until) waiting.resolve();
  };
  if (keptBack) keptBack.push(respond);
  else respond();
});
receiver.listen(0, "127.0.0.1");
await once(receiver, "listening");
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

/** How many arrive a second after `begin` has resolved. */
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

/** @param databaseUrl without it, the embedded store is used */
async function measure(store: string, databaseUrl?: string): Promise<[Figure, string]> {
  const server = await runServer({ ...(databaseUrl && { databaseUrl }) });
  const call = async (path: string, body: object) => {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${path} responded with ${response.status}`);
  };
  for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
    await call("/v1/webhook/subscribe", {
      url: `${receiverUrl}/${index}`,
      secretKey: "9f2c1b7ae04d5386c1f7a2b9d0e43c58",
      subscriptionDetails: { type: "ALL" },
    });
  }
  const cpuSeconds: number[] = [];

  /** Creates events, a few at a time, while the receiver holds its responses back; then lets it respond. */
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
    const responses = keptBack;
    keptBack = undefined;
    usedSeconds = server.cpuSeconds();
    for (const respond of responses) respond();
  }
  let usedSeconds = 0;

  const figure = await compare({
    name: `deliveries to a fast receiver, ${store}`,
    unit: "deliveries/s",
    ours: async () => {
      const rate = await rateOfArrivals(deliver);
      cpuSeconds.push(server.cpuSeconds() - usedSeconds);
      return rate;
    },
    against: { name: "POSTs by undici", measure: () => rateOfArrivals(post) },
    target: { atLeast: 0.2 },
    floor: databaseUrl ? 5_000 : 2_500,
  });
  await server.stop();
  const each = (1_000 * median(cpuSeconds)) / (EVENTS * SUBSCRIPTIONS);
  return [figure, `${store}: ${each.toFixed(2)} ms of the server's processor time for a delivery`];
}

const postgres = await startPostgres({ durable: true });
const [onPostgres, postgresNote] = await measure("PostgreSQL", postgres.urlOf("postgres"));
await postgres.stop();
const [embedded, embeddedNote] = await measure("embedded");
await record("deliveries", [onPostgres, embedded], [postgresNote, embeddedNote]);
await pool.close();
receiver.close();
receiver.closeAllConnections();
