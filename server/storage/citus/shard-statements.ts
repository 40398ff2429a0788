import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from "kysely";
import { recordStatement } from "../statements/attempts.ts";
import { claimStatement, sharesStatement } from "../statements/claims.ts";
import { loadStatement, saveStatement } from "../statements/refunds.ts";

/**
 * The statements that run on the tables of a shard: those of one PostgreSQL, as a shard is a set of ordinary tables. Their
 * values are the `items` and the `further` values of the function that runs them. A shard has no triggers, so what adds up refunds
 * is a part of the statement.
 */
const STATEMENTS = {
  loadOriginals: loadStatement(sql`items`),
  saveRefunds: saveStatement({
    refunds: sql`items`,
    lockTimeoutMs: sql`further ->> 'lockTimeoutMs'`,
    count: sql`counted as (
      update payments p set refunded_cents = p.refunded_cents + change.cents
      from (
        select s.original_payment_id, s.merchant, sum(s.amount_cents)::bigint as cents
        from refund r join source s on s.payment_id = r.payment_id and s.merchant = r.merchant
        where r.status <> 'TERMINAL_FAILED'
        group by s.original_payment_id, s.merchant
      ) as change
      where p.payment_id = any(array[change.original_payment_id]) and p.merchant = any(array[change.merchant])
    ), `,
  }),
  recordAttempts: recordStatement({
    rows: sql`items`,
    states: sql`array(select json_array_elements_text(further -> 'states'))`,
    onlyOnce: sql`array(select json_array_elements_text(further -> 'onlyOnce')::boolean)`,
    dueAfterMs: sql`array(select json_array_elements_text(further -> 'dueAfterMs')::bigint)`,
  }),
  readShares: sharesStatement({
    realNow: sql`(further ->> 'realNow')`,
    merchants: sql`array(select item ->> 'merchant' from json_array_elements(items) as item)`,
    ended: sql`array(select json_array_elements_text(further -> 'ended'))`,
  }),
  claimDeliveries: claimStatement({
    limits: sql`json_to_recordset(items) as claim_limit (subscription_key text, merchant text, up_to integer)`,
    now: sql`(further ->> 'now')`,
    leaseMs: sql`(further ->> 'leaseMs')`,
  }),
};

export type ShardStatement = keyof typeof STATEMENTS;

/** Tables whose rows belong to one merchant. Each comes after the one that it refers to. */
export const BY_MERCHANT = [
  "payments",
  "payouts_waiting",
  "events",
  "subscriptions",
  "deliveries",
  "delivery_attempts",
] as const;

export const SHARD_TABLES = [...BY_MERCHANT, "clock", "holds"] as const;

/** The names of the tables of a shard, which include those of which every machine has all rows. */
export type ShardTables = Readonly<Record<(typeof SHARD_TABLES)[number], string>>;

const NAMES = new RegExp(`\\b(?:${SHARD_TABLES.join("|")})\\b`, "g");

/** Only for text: it has no connection. */
const writer = new Kysely({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

/** The texts of the statements, by name, for the tables of a shard. */
export function writeStatements(tables: ShardTables): [ShardStatement, string][] {
  return Object.entries(STATEMENTS).map(([name, statement]) => [
    name as ShardStatement,
    writeStatement(statement, tables),
  ]);
}

function writeStatement(statement: RawBuilder<unknown>, tables: ShardTables): string {
  const compiled = statement.compile(writer);
  return nameTables(compiled.sql, tables).replace(/\$(\d+)/g, (_, number) =>
    toLiteral(compiled.parameters[Number(number) - 1]),
  );
}

/** A statement with the names of a shard's tables. */
export function nameTables(text: string, tables: ShardTables): string {
  return text.replace(NAMES, (name) => tables[name as keyof ShardTables]);
}

/** Of the values that the statements of both engines have in common, such as the name of a channel. */
function toLiteral(value: unknown): string {
  return sql.lit(value).compile(writer).sql;
}
