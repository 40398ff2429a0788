import { text } from "node:stream/consumers";
import pLimit from "p-limit";
import { Pool } from "undici";
import { subscriptionTo } from "../../helpers/factories.ts";
import { serveLocally } from "../../helpers/network/local-server.ts";
import { post } from "../../helpers/server.ts";
import { compare } from "./compare.ts";
import { atEnd, bench, createStore, keepUntilEnd, serve } from "./frame.ts";

/*
 * Deliveries a second to a fast receiver, signed, leased and recorded, compared with POSTs of the same bytes by the same HTTP
 * client, with as many in parallel as the server has in progress for one merchant. The receiver holds its first responses
 * back until all events exist; the time starts then.
 */
const EVENTS = 500;
const SUBSCRIPTIONS = 8;
const COUNT = EVENTS * SUBSCRIPTIONS;
const IN_PROGRESS = 64;
const TARGETS = { PostgreSQL: 0.4, embedded: 0.22 };

await bench(
  async (engine) => {
    const server = await serve(await createStore(engine));
    let mayRespond = Promise.resolve();
    let arrived = 0;
    let all = Promise.withResolvers<void>();
    let sample = { headers: {} as Record<string, string>, body: "" };
    const receiver = await serveLocally(async (request, response) => {
      const body = await text(request);
      const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
      sample = { headers: headers as Record<string, string>, body };
      await mayRespond;
      response.writeHead(204).end();
      arrived += 1;
      if (arrived === COUNT) all.resolve();
    });
    const { url } = keepUntilEnd(receiver);
    for (let index = 0; index < SUBSCRIPTIONS; index += 1)
      await post(server.url, "/v1/webhook/subscribe", subscriptionTo(`${url}/${index}`));
    const pool = new Pool(url, { connections: IN_PROGRESS, pipelining: 1 });
    atEnd(() => pool.close());

    /** How many arrive a second after `begin` has resolved. */
    async function rateOfArrivals(begin: () => Promise<void>): Promise<number> {
      arrived = 0;
      all = Promise.withResolvers();
      await begin();
      const startedAt = performance.now();
      await all.promise;
      return COUNT / ((performance.now() - startedAt) / 1000);
    }
    async function repost(): Promise<void> {
      const send = async () => (await pool.request({ path: "/", method: "POST", ...sample })).body.dump();
      void pLimit(IN_PROGRESS).map(Array(COUNT), send); // a failure ends the process
    }
    /** Creates events, a few at a time, while the receiver holds its responses back; then lets it respond. */
    async function deliver(): Promise<void> {
      const created = Promise.withResolvers<void>();
      mayRespond = created.promise;
      const event = { type: "account.linked", resourceId: "acc_1" };
      await pLimit(8).map(Array(EVENTS), () => post(server.url, "/sandbox/events", event));
      created.resolve();
    }

    await compare(`deliveries to a fast receiver, ${engine}`, "deliveries/s", {
      ours: () => rateOfArrivals(deliver),
      theirs: () => rateOfArrivals(repost),
      against: "POSTs of the same bytes by the same HTTP client",
      atLeast: TARGETS[engine],
    });
  },
  ["PostgreSQL", "embedded"],
);
