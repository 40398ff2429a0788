import { compare } from "./lib/compare.ts";
import { bench, createStore, makePayments, serve, startMock } from "./lib/frame.ts";
import { rateOf, refundsOf } from "./lib/load.ts";

/* Refunds a second on the embedded store, compared with the Prism mock, which stores nothing. */
await bench(async () => {
  // Both are started by their commands, with their logs.
  const server = await serve(await createStore("embedded"), { LOG_LEVEL: "info" });
  const mock = await startMock();
  const payments = await makePayments(server);
  const of = (url: string) => () => rateOf([{ url, body: refundsOf(payments) }]);
  const name = "refunds, embedded, 32 connections, with logs";
  const sides = { ours: of(server.url), theirs: of(mock.url), against: "prism mock", atLeast: 0.8 };
  return { figures: [await compare({ name, unit: "refunds/s", ...sides })] };
});
