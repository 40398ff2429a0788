import { PostgresDialect } from "kysely";
import { createPool } from "../../../server/storage/database/pool.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { compare, record } from "./lib/compare.ts";
import { rateOf, refundsOf, SECONDS } from "./lib/load.ts";
import { makePayments, type Running, runMock, runServer } from "./lib/processes.ts";
import { captureRefund, runRefund, type Statement } from "./lib/statements.ts";

/*
 * Durable, validated refunds a second on PostgreSQL, with 32 and 128 calls at a time, compared with the Prism mock, which stores
 * nothing, and with a bare loop of the same statements, without HTTP and validation.
 */
const CALLS = 32;
const MANY_CALLS = 128;

const postgres = await startPostgres({ durable: true });
const databaseUrl = postgres.urlOf("postgres");
const server = await runServer({ databaseUrl });
// Both are started by their commands, with their logs.
const logging = await runServer({ databaseUrl, logLevel: "info" });
const mock = await runMock();
const payments = await makePayments(server, 64);
const pool = createPool(databaseUrl);
const dialect = new PostgresDialect({ pool });
const nextRefunds = await Promise.all(payments.map((payment) => captureRefund(dialect, payment)));

const rateAt = ({ url }: Running, connections = CALLS) =>
  rateOf({ url, body: refundsOf(payments) }, { connections });

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

const bare = createPool(databaseUrl);
bare.options.max = CALLS;
const name = "refunds, PostgreSQL, 32 connections";
const unit = "refunds/s";
await record("refunds-postgres", [
  await compare({
    name: `${name}, with logs`,
    unit,
    ours: () => rateAt(logging),
    against: { name: "prism mock", measure: () => rateAt(mock) },
    target: { atLeast: 1.3 },
  }),
  await compare({
    name: `refunds, PostgreSQL, ${MANY_CALLS} connections, with logs`,
    unit,
    ours: () => rateAt(logging, MANY_CALLS),
    against: { name: "prism mock", measure: () => rateAt(mock, MANY_CALLS) },
    target: { atLeast: 1.6 },
  }),
  await compare({
    name,
    unit,
    ours: () => rateAt(server),
    against: { name: "the same statements, bare", measure: ofStatements },
    target: { atLeast: 1.2 },
  }),
]);
await Promise.all([server, logging, mock].map((process) => process.stop()));
await Promise.all([pool.end(), bare.end()]);
await postgres.stop();
process.exit();
