import { sql } from "kysely";
import type { Db } from "./database/db-types.ts";
import { isHeld } from "./payments/holds.ts";

/** Counts the work that waits at `now` (domain time, D30). It reads only unfinished rows and live subscriptions, through partial indexes. */
export async function readBacklog(db: Db, now: Date): Promise<Backlog> {
  // A time that is infinite, as a stolen password could write it, can't be subtracted before PostgreSQL 17.
  const ageOf = (oldest: string) =>
    sql`greatest(0, coalesce(extract(epoch from ${now}::timestamptz) - extract(epoch from ${sql.ref(oldest)}), 0))::float8`;
  const { rows } = await sql<BacklogRow>`
    with ready as (
      select (count(*) filter (where due_at <= ${now}::timestamptz))::integer as due,
        (count(*) filter (where due_at > ${now}::timestamptz))::integer as later,
        min(due_at) as oldest
      from deliveries where state = 'PENDING' and leased_until is null
    ), refund as (
      select min(due_at) as oldest from payments where kind = 'REFUND' and status = 'PENDING' and due_at is not null
    )
    select json_build_object('due', ready.due, 'later', ready.later,
        'inProgress', (select count(*) from deliveries where leased_until is not null)) as waiting,
      (select json_build_object('responding', count(*) filter (where timeouts = 0),
          'silent', count(*) filter (where timeouts > 0), 'unproven', count(*) filter (where timeouts is null))
        from subscriptions where ended_at is null) as live,
      ${ageOf("ready.oldest")} as "oldestDeliverySeconds", ${ageOf("refund.oldest")} as "oldestRefundSeconds"
    from ready, refund`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("the statement returned no row");
  const { waiting: deliveries, live: subscriptions, ...ages } = row; // names of tables would become those of a shard
  return { ...ages, deliveries, subscriptions };
}

/** Work that waits, for the metrics. */
export type Backlog = {
  /** `inProgress`: claimed by some server. */
  readonly deliveries: { readonly due: number; readonly later: number; readonly inProgress: number };
  /** Live subscriptions, by how their receivers responded last. */
  readonly subscriptions: { readonly responding: number; readonly silent: number; readonly unproven: number };
  /** For how long the oldest due delivery that is not in progress has been due; 0 when none is. */
  readonly oldestDeliverySeconds: number;
  /** The same for refunds that wait to be authorized. */
  readonly oldestRefundSeconds: number;
};

type BacklogRow = Backlog & { waiting: Backlog["deliveries"]; live: Backlog["subscriptions"] };

type DueCount = { readonly refunds: number; readonly deliveries: number };

/** The earliest time at which records of a merchant are due, and how many are; held refunds wait for an operator. */
export async function findNextDue(
  db: Db,
  { merchant }: { merchant: string },
): Promise<(DueCount & { readonly at: Date }) | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select min(due_at) from payments
        where merchant = ${merchant} and kind = 'REFUND' and status = 'PENDING' and not ${isHeld(sql`${merchant}::text`)}),
      (select min(due_at) from deliveries where merchant = ${merchant}
        and state = 'PENDING')) as at`.execute(db);
  const at = rows[0]?.at;
  return at ? { at, ...(await countDue(db, { merchant, until: at })) } : undefined;
}

/**
 * How many refunds of a merchant are due by a time of the domain (D30), held ones left out, and how many deliveries, of those that
 * were not due at `after`.
 */
export async function countDue(
  db: Db,
  { merchant, until, after = new Date(0) }: { merchant: string; until: Date; after?: Date },
) {
  const { rows } = await sql<DueCount>`
    select
      (select count(*)::integer from payments
        where merchant = ${merchant} and kind = 'REFUND' and status = 'PENDING' and due_at <= ${until}::timestamptz
          and not ${isHeld(sql`${merchant}::text`)}) as refunds,
      (select count(*)::integer from deliveries
        where merchant = ${merchant} and state = 'PENDING'
          and due_at > ${after}::timestamptz and due_at <= ${until}::timestamptz) as deliveries`.execute(db);
  return rows[0] ?? { refunds: 0, deliveries: 0 };
}

/** The result of the last `check`, and its age by the database's clock; undefined before the first one. */
export async function readLastCheck(
  db: Db,
): Promise<{ readonly differences: number; readonly ageSeconds: number } | undefined> {
  const { rows } = await sql<{ differences: number; ageSeconds: number }>`
    select differences, extract(epoch from clock_timestamp() - ended_at)::float8 as "ageSeconds" from last_check`.execute(
    db,
  );
  return rows[0];
}
