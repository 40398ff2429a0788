import { type RawBuilder, type SqlBool, sql } from "kysely";
import { toDomainTime } from "../../domain/clock.ts";
import type { Store } from "../database/tables.ts";
import { isUnavailable } from "../database/unavailable.ts";
import { readOffset } from "../deployment.ts";
import { isDistributed } from "./citus.ts";
import { onLocalShards } from "./functions.ts";

/*
 * What servers look for among the rows of all merchants, where the tables may be distributed. Each query is of a form that
 * Citus passes on to every machine, because it joins rows of one merchant only.
 */

/** The tables of a query, and its values. */
type Parts = {
  readonly payments: RawBuilder<unknown>;
  readonly subscriptions: RawBuilder<unknown>;
  readonly deliveries: RawBuilder<unknown>;
  value(value: string | number | boolean | Date): RawBuilder<unknown>;
  list(texts: readonly string[]): RawBuilder<unknown>;
};

const OVERALL: Parts = {
  payments: sql`payments`,
  subscriptions: sql`subscriptions`,
  deliveries: sql`deliveries`,
  value: (value) => sql`${value}`,
  list: (texts) => sql`${texts}::text[]`,
};

/** For the function that puts the names of shards into a text. */
const IN_SHARDS: Parts = {
  payments: sql`%1$s`,
  subscriptions: sql`%2$s`,
  deliveries: sql`%3$s`,
  value: toLiteral,
  list: (texts) => sql`array[${sql.join(texts.map(toLiteral))}]::text[]`,
};

function toLiteral(value: string | number | boolean | Date): RawBuilder<unknown> {
  const literal = value instanceof Date ? value.toISOString() : value;
  return sql.lit(typeof literal === "string" ? literal.replaceAll("%", "%%") : literal);
}

/** What Citus says of a machine that it can't reach, or that has ended the connection. */
const UNREACHABLE = /connect/i;

/**
 * Runs a query over the rows of all merchants. While a machine can't be reached, it finds those on the others, so that their
 * merchants do not have to wait; this is slower, because it opens a connection to each machine.
 *
 * @param write the query, whose rows hold texts, numbers and booleans only
 * @returns its rows; with a machine away, those of each shard, one shard after the other
 */
export async function findEverywhere<Row>(
  store: Store,
  write: (parts: Parts) => RawBuilder<Row>,
): Promise<Row[]> {
  try {
    return (await write(OVERALL).execute(store)).rows;
  } catch (error) {
    if (!isDistributed(store) || store.isTransaction || !isUnavailable(error)) throw error;
    const { sql: query } = write(IN_SHARDS).compile(store);
    const { rows } = await sql<{ success: boolean; result: string }>`
      select success, result
      from run_command_on_all_nodes(format('select %I(%L)', ${onLocalShards()}::text, ${query}::text))`.execute(
      store,
    );
    const refused = rows.find(({ success, result }) => !success && !UNREACHABLE.test(result));
    if (refused) throw new Error(refused.result, { cause: error });
    return rows.filter(({ success }) => success).flatMap(({ result }): Row[] => JSON.parse(result));
  }
}

/** Merchants with a delivery whose lease has run out, or with one in progress. */
export async function findLeaseHolders(store: Store, { all }: { all: boolean }): Promise<string[]> {
  const rows = await findEverywhere(
    store,
    ({ deliveries, value }) => sql<{ merchant: string }>`
      select distinct merchant from ${deliveries}
      where leased_until is not null and (${value(all)}::boolean or leased_until < now())`,
  );
  return rows.map(({ merchant }) => merchant);
}

type SubscriptionRow = { subscription_key: string; merchant: string; timeouts: number | null };
export type WaitingRow = SubscriptionRow & { due: boolean; ended: boolean };

/**
 * A page of the subscriptions with deliveries that no process has in progress, in the order of their keys. It examines every
 * subscription.
 */
export async function findWaiting(
  store: Store,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<WaitingRow[]> {
  const rows = await findEverywhere(
    store,
    ({ subscriptions, deliveries, value }) => sql<WaitingRow>`
      select s.subscription_key, s.merchant, s.timeouts, (
          select min(d.due_at) from ${deliveries} d where ${waitsFor()}
        ) <= ${value(now)}::timestamptz as due, s.ended_at is not null as ended
      from ${subscriptions} s
      where s.subscription_key > ${value(after)} and exists (select from ${deliveries} d where ${waitsFor()})
      order by s.subscription_key limit ${value(limit)}::integer`,
  );
  return rows.toSorted((a, b) => (a.subscription_key < b.subscription_key ? -1 : 1)).slice(0, limit);
}

/** The domain's time (D30) at a real time. Each machine has the clock, so this needs no other one. */
export async function readDomainTime(store: Store, realNow: Date): Promise<Date> {
  return toDomainTime(realNow, await readOffset(store));
}

/** Live subscriptions of some merchants with a delivery that is due. */
export async function findDueSubscriptions(
  store: Store,
  { merchants, now }: { merchants: readonly string[]; now: Date },
): Promise<SubscriptionRow[]> {
  return findEverywhere(
    store,
    ({ subscriptions, deliveries, value, list }) => sql<SubscriptionRow>`
      select s.subscription_key, s.merchant, s.timeouts from ${subscriptions} s
      where s.merchant = any(${list(merchants)}) and s.ended_at is null
        and exists (select from ${deliveries} d where ${waitsFor()} and d.due_at <= ${value(now)}::timestamptz)`,
  );
}

/** Counts the deliveries in progress of each subscription. */
export async function countLeased(store: Store): Promise<(SubscriptionRow & { count: number })[]> {
  return findEverywhere(
    store,
    ({ subscriptions, deliveries }) => sql<SubscriptionRow & { count: number }>`
      select s.subscription_key, s.merchant, s.timeouts, count(*)::integer as count
      from ${deliveries} d
      join ${subscriptions} s on s.subscription_key = d.subscription_key and s.merchant = d.merchant
      where d.leased_until is not null
      group by s.subscription_key, s.merchant, s.timeouts`,
  );
}

/** Whether a delivery `d` of a subscription `s` waits for an attempt that no process has begun. */
function waitsFor(): RawBuilder<SqlBool> {
  return sql`d.subscription_key = s.subscription_key and d.merchant = s.merchant
    and d.state = 'PENDING' and d.leased_until is null`;
}
