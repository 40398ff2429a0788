import { compare } from "./compare.ts";
import { bench, createStore, makePayments, serve, startPrism } from "./frame.ts";
import { rateOf, refundsOf } from "./load.ts";

/* Durable, validated refunds a second, compared with the Prism mock, which stores nothing. */
const CASES = {
  PostgreSQL: [
    { callers: 32, atLeast: 1.3 },
    { callers: 128, atLeast: 1.6 },
  ],
  embedded: [{ callers: 32, atLeast: 0.8 }],
};

await bench(
  async (engine) => {
    const server = await serve(await createStore(engine), { LOG_LEVEL: "info" }); // with its log, like the mock
    const { url } = await startPrism();
    const rival = { url, body: refundsOf(["pay_settled"]) };
    const body = refundsOf(await makePayments(server));
    for (const { callers, atLeast } of CASES[engine]) {
      await compare(`refunds, ${engine}, ${callers} callers`, "refunds/s", {
        ours: () => rateOf([{ url: server.url, body }], callers),
        theirs: () => rateOf([rival], callers),
        against: "the Prism mock",
        atLeast,
      });
    }
  },
  ["PostgreSQL", "embedded"],
);
