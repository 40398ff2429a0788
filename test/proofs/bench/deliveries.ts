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
const EVENTS = options.events;
const COUNT = EVENTS * SUBSCRIPTIONS;
const IN_PROGRESS = 64;
const TARGETS = { PostgreSQL: 0.3, embedded: 0.2 };

/** Works several times at once until so many are done. */
async function inParallel(callers: number, count: number, work: () => Promise<unknown>): Promise<void> {
  let left = count;
  const caller = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

await bench(
  async (engine) => {
    const server = await serve(await createStore(engine));
    /** Responses that are held back; undefined while the receiver responds at once. */
    let heldBack: (() => void)[] | undefined;
    let arrived = 0;
    let onAll = () => {};
    let sample = { headers: {} as Record<string, string>, body: "" };
    const url = await receive((body, request, response) => {
      const { host: _host, connection: _connection, "content-length": _length, ...headers } = request.headers;
      sample = { headers: headers as Record<string, string>, body };
      const respond = () => {
        response.writeHead(204).end();
        arrived += 1;
        if (arrived === COUNT) onAll();
      };
      if (heldBack) heldBack.push(respond);
      else respond();
    });
    for (let index = 0; index < SUBSCRIPTIONS; index += 1) await subscribe(server, `${url}/${index}`);
    const pool = new Pool(url, { connections: IN_PROGRESS, pipelining: 1 });
    atEnd(() => pool.close());

    /** How many arrive a second after `begin` has resolved. */
    async function rateOfArrivals(begin: () => Promise<void>): Promise<number> {
      arrived = 0;
      const all = new Promise<void>((resolve) => {
        onAll = resolve;
      });
      await begin();
      const startedAt = performance.now();
      await all;
      return COUNT / ((performance.now() - startedAt) / 1000);
    }
    async function post(): Promise<void> {
      const send = async () => (await pool.request({ path: "/", method: "POST", ...sample })).body.dump();
      void inParallel(IN_PROGRESS, COUNT, send); // a failure ends the process
    }
    /** Creates events, a few at a time, while the receiver holds its responses back; then lets it respond. */
    async function deliver(): Promise<void> {
      heldBack = [];
      const event = { type: "account.linked", resourceId: "acc_1" };
      await inParallel(8, EVENTS, () => server.call("/sandbox/events", event));
      const responses = heldBack;
      heldBack = undefined;
      for (const respond of responses) respond();
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
