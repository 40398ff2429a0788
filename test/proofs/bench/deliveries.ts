import pLimit from "p-limit";
import { Pool } from "undici";
import { compare } from "./lib/compare.ts";
import { atEnd, bench, createStore, receive, serve, subscribe } from "./lib/frame.ts";
import { options } from "./lib/options.ts";

/*
 * Deliveries a second to a fast receiver, signed, leased and recorded, compared with POSTs of the same bytes by the same HTTP
 * client, with as many in parallel as the server has in progress for one merchant. The receiver holds its first responses
 * back until all events exist; the time starts then.
 */
const SUBSCRIPTIONS = 8;
const COUNT = options.events * SUBSCRIPTIONS;
const IN_PROGRESS = 64;
const TARGETS = { PostgreSQL: 0.3, embedded: 0.2 };

await bench(
  async (engine) => {
    const server = await serve(await createStore(engine));
    let mayRespond = Promise.resolve();
    let arrived = 0;
    let all = Promise.withResolvers<void>();
    let sample = { headers: {} as Record<string, string>, body: "" };
    const url = await receive(async (body, request, response) => {
      const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
      sample = { headers: headers as Record<string, string>, body };
      await mayRespond;
      response.writeHead(204).end();
      arrived += 1;
      if (arrived === COUNT) all.resolve();
    });
    for (let index = 0; index < SUBSCRIPTIONS; index += 1) await subscribe(server, `${url}/${index}`);
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
    async function post(): Promise<void> {
      const send = async () => (await pool.request({ path: "/", method: "POST", ...sample })).body.dump();
      void pLimit(IN_PROGRESS).map(Array(COUNT), send); // a failure ends the process
    }
    /** Creates events, a few at a time, while the receiver holds its responses back; then lets it respond. */
    async function deliver(): Promise<void> {
      const created = Promise.withResolvers<void>();
      mayRespond = created.promise;
      const event = { type: "account.linked", resourceId: "acc_1" };
      await pLimit(8).map(Array(options.events), () => server.call("/sandbox/events", event));
      created.resolve();
    }

    const figure = await compare({
      name: `deliveries to a fast receiver, ${engine}`,
      unit: "deliveries/s",
      ours: () => rateOfArrivals(deliver),
      theirs: () => rateOfArrivals(post),
      against: "POSTs by undici",
      atLeast: TARGETS[engine],
    });
    return { figures: [figure] };
  },
  ["PostgreSQL", "embedded"],
);
