import { compare } from "./lib/compare.ts";
import { bench, createStore, makePayments, serve, startMock } from "./lib/frame.ts";
import { rateOf, refundsOf } from "./lib/load.ts";

/*
 * Durable, validated refunds a second on PostgreSQL, with 32 and 128 calls at a time, compared with the Prism mock, which stores
 * nothing.
 */
await bench(async () => {
  // Both are started by their commands, with their logs.
  const server = await serve(await createStore("PostgreSQL"), { LOG_LEVEL: "info" });
  const mock = await startMock();
  const payments = await makePayments(server);
  const compareAt = (connections: number, atLeast: number) => {
    const at = (url: string) => () => rateOf({ url, body: refundsOf(payments) }, { connections });
    const name = `refunds, PostgreSQL, ${connections} connections, with logs`;
    const sides = { ours: at(server.url), theirs: at(mock.url), against: "prism mock", atLeast };
    return compare({ name, unit: "refunds/s", ...sides });
  };
  return { figures: [await compareAt(32, 1.3), await compareAt(128, 1.6)] };
});
