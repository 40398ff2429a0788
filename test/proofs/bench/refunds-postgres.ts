import { decideRefund, saveRefund } from "../../helpers/store-factories.ts";
import { compare } from "./lib/compare.ts";
import { atEnd, bench, createStore, makePayments, serve, startMock } from "./lib/frame.ts";
import { rateOf, refundsOf, SECONDS } from "./lib/load.ts";

/*
 * Durable, validated refunds a second on PostgreSQL, with 32 and 128 calls at a time, compared with the Prism mock, which stores
 * nothing, and with the same statements for one refund at a time, without HTTP and validation.
 */
const CALLS = 32;

await bench(async () => {
  const store = await createStore("PostgreSQL");
  // Both are started by their commands, with their logs.
  const server = await serve(store, { LOG_LEVEL: "info" });
  const mock = await startMock();
  const payments = await makePayments(server);
  const { db, close } = await store.open();
  atEnd(close);

  async function ofStatements(): Promise<number> {
    const endsAt = performance.now() + SECONDS * 1000;
    let refunds = 0;
    const refundOneByOne = async (first: number) => {
      for (let turn = first; performance.now() < endsAt; turn += CALLS) {
        const payment = { merchant: "acme", paymentId: payments[turn % payments.length] ?? "" };
        const refund = await decideRefund(db, payment, { amountCents: 1, now: new Date() });
        if (!(await saveRefund(db, refund))) throw new Error("the statements saved no refund");
        refunds += 1;
      }
    };
    await Promise.all(Array.from({ length: CALLS }, (_, index) => refundOneByOne(index)));
    return refunds / SECONDS;
  }

  const compareAt = (
    connections: number,
    against: string,
    theirs: () => Promise<number>,
    atLeast: number,
  ) => {
    const ours = () => rateOf([{ url: server.url, body: refundsOf(payments) }], { connections });
    const name = `refunds, PostgreSQL, ${connections} connections, with logs`;
    return compare({ name, unit: "refunds/s", ours, theirs, against, atLeast });
  };
  const ofMock = (connections: number) => () =>
    rateOf([{ url: mock.url, body: refundsOf(payments) }], { connections });
  return {
    figures: [
      await compareAt(CALLS, "prism mock", ofMock(CALLS), 1.3),
      await compareAt(128, "prism mock", ofMock(128), 1.6),
      await compareAt(CALLS, "the same statements one by one", ofStatements, 1.2),
    ],
  };
});
