import { PostgresDialect } from "kysely";
import { createPool } from "../../../server/storage/database/pool.ts";
import { compare } from "./lib/compare.ts";
import {
  atEnd,
  bench,
  createDatabase,
  createPostgres,
  makePayments,
  type Running,
  serve,
  startMock,
} from "./lib/frame.ts";
import { rateOf, refundsOf, SECONDS } from "./lib/load.ts";
import { captureRefund, runRefund, type Statement } from "./lib/statements.ts";

/*
 * Durable, validated refunds a second on PostgreSQL, with 32 and 128 calls at a time, compared with the Prism mock, which stores
 * nothing, and with a bare loop of the same statements, without HTTP and validation.
 */
const CALLS = 32;
const MANY_CALLS = 128;

await bench(async () => {
  const store = await createDatabase(await createPostgres());
  const server = await serve(store);
  // Both are started by their commands, with their logs.
  const logging = await serve(store, { LOG_LEVEL: "info" });
  const mock = await startMock();
  const payments = await makePayments(server);
  const [pool, bare] = [createPool(store.databaseUrl), createPool(store.databaseUrl)];
  bare.options.max = CALLS;
  for (const one of [pool, bare]) atEnd(() => one.end());
  const dialect = new PostgresDialect({ pool });
  const nextRefunds = await Promise.all(payments.map((payment) => captureRefund(dialect, payment)));

  async function ofStatements(): Promise<number> {
    const clients = await Promise.all(Array.from({ length: CALLS }, () => bare.connect()));
    const endsAt = performance.now() + SECONDS * 1000;
    let refunds = 0;
    await Promise.all(
      clients.map(async (client, index) => {
        for (let turn = index; performance.now() < endsAt; turn += CALLS) {
          const run = async ({ text, values }: Statement, part: number) =>
            (await client.query({ name: `s${part}`, text, values })).rows;
          await runRefund(nextRefunds[turn % payments.length]?.() ?? [], run);
          refunds += 1;
        }
      }),
    );
    for (const client of clients) client.release();
    return refunds / SECONDS;
  }

  const at =
    ({ url }: Running, connections: number) =>
    () =>
      rateOf({ url, body: refundsOf(payments) }, { connections });
  const compareAt = (connections: number, atLeast: number) =>
    compare({
      name: `refunds, PostgreSQL, ${connections} connections, with logs`,
      unit: "refunds/s",
      ours: at(logging, connections),
      theirs: at(mock, connections),
      against: "prism mock",
      atLeast,
    });
  const bareFigure = {
    name: `refunds, PostgreSQL, ${CALLS} connections`,
    unit: "refunds/s",
    ours: at(server, CALLS),
    theirs: ofStatements,
    against: "the same statements, bare",
    atLeast: 1.2,
  };
  return {
    figures: [await compareAt(CALLS, 1.3), await compareAt(MANY_CALLS, 1.6), await compare(bareFigure)],
  };
});
