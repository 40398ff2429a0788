import { type RawBuilder, sql } from "kysely";
import { refundDueAt } from "../../domain/business-days.ts";
import { ORIGINAL_TRANSITIONS, REFUND_TRANSITIONS } from "../../domain/refund-rules.ts";
import { RETRY_STEPS_MS } from "../../domain/retry-schedule.ts";
import type { Db } from "../../storage/database/db-types.ts";
import { isByHand } from "./audit-record.ts";
import { firstIdAt } from "./role-rights.ts";

/**
 * For `admin check`: compares the database's own tables with each other (sums, histories, events, payouts), and returns what differs
 * in a range of ids. Each comparison is one statement, so that it sees all or nothing of what a server writes meanwhile.
 * @param eventsSince older events may have been removed
 * @param plain whether the tables aren't distributed, so that they can be joined with those of the coordinator
 */
export async function findDifferences(
  db: Db,
  table: CheckedTable,
  { eventsSince, plain, ...range }: IdRange & { readonly eventsSince: Date; readonly plain: boolean },
): Promise<Difference[]> {
  const comparisons =
    table === "payments"
      ? [
          compareSums(range),
          compareOriginals(range),
          compareHistories(range),
          compareEvents(range, eventsSince),
          ...(plain ? [compareFanOut(range, eventsSince), comparePayouts(range), compareRecord(range)] : []),
        ]
      : [compareDeliveries(range)];
  const found = plain && table === "payments" ? await compareWaits(db, range) : [];
  for (const comparison of comparisons) found.push(...(await comparison.execute(db)).rows);
  return found;
}

/** A value of a record that contradicts others. */
export type Difference = {
  readonly merchant: string;
  readonly id: string;
  /** Such as `refunded_cents`. */
  readonly what: string;
  readonly found: string;
  /** What the other records say. */
  readonly expected: string;
  /** When the event that is missing happened (domain time, as its history says), and its number; none for any other difference. */
  readonly missing_since?: string | null;
  readonly missing_sequence?: number | null;
};

/** The records whose ids lie in a range: after the first, and up to the last unless that is undefined. */
export type IdRange = { readonly after: string; readonly upTo: string | undefined };

/** The tables that are compared range by range, and their ids. */
const IDS = { payments: "payment_id", deliveries: "webhook_id" } as const;
export type CheckedTable = keyof typeof IDS;

/** How many records a range has; those of one id in several merchants belong together. */
const RANGE_SIZE = 10_000;

/** The range of ids that follows, and how many records are in it. */
export async function findRange(
  db: Db,
  table: CheckedTable,
  after: string,
): Promise<IdRange & { readonly records: number }> {
  const id = sql.ref(IDS[table]);
  const { rows } = await sql<{ id: string }>`
    select ${id} as id from ${sql.table(table)} where ${id} > ${after}
    order by ${id} limit 1 offset ${RANGE_SIZE - 1}`.execute(db);
  const range = { after, upTo: rows[0]?.id };
  const counted = await sql<{ records: number }>`
    select count(*)::integer as records from ${sql.table(table)} where ${isIn(range, sql.ref(IDS[table]))}`.execute(
    db,
  );
  return { ...range, records: counted.rows[0]?.records ?? 0 };
}

export function isIn({ after, upTo }: IdRange, id: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${id} > ${after} ${upTo === undefined ? sql`` : sql`and ${id} <= ${upTo}`})`;
}

function compareSums(range: IdRange): RawBuilder<Difference> {
  return sql<Difference>`
    select p.merchant, p.payment_id as id, 'refunded_cents' as what, p.refunded_cents::text as found,
      coalesce(refund.cents, 0) || ' by its refunds, at most ' || p.amount_cents as expected
    from payments p
    left join (
      select original_payment_id, merchant, sum(amount_cents) as cents from payments
      where ${isIn(range, sql`original_payment_id`)} and kind = 'REFUND' and status <> 'TERMINAL_FAILED'
      group by original_payment_id, merchant
    ) as refund on refund.original_payment_id = p.payment_id and refund.merchant = p.merchant
    where ${isIn(range, sql`p.payment_id`)}
      and (p.refunded_cents <> coalesce(refund.cents, 0) or p.refunded_cents > p.amount_cents)`;
}

/** A refund has a status that its original payment allows (D12, D16). */
function compareOriginals(range: IdRange): RawBuilder<Difference> {
  return sql<Difference>`
    select r.merchant, r.payment_id as id, 'status' as what,
      r.status || case when r.due_at is null then '' else ' with a due date' end as found,
      'one that fits ' || coalesce(r.original_payment_id, 'no payment') || ', which is '
        || coalesce(o.kind || ' ' || o.status, 'missing') as expected
    from payments r
    left join payments o on o.payment_id = r.original_payment_id and o.merchant = r.merchant
    where ${isIn(range, sql`r.payment_id`)} and r.kind = 'REFUND' and not coalesce(case r.status
      when 'PENDING' then o.status = case when r.due_at is null then 'PROCESSING' else 'SETTLED' end
      when 'AUTHORIZED' then o.status = 'SETTLED'
      else o.payment_id is not null end, false)`;
}

const TRANSITIONS = [...ORIGINAL_TRANSITIONS, ...REFUND_TRANSITIONS].map(({ from, to }) => `${from} ${to}`);

/** A history ends with the status, and has only transitions that there are (D16a, D17). */
function compareHistories(range: IdRange): RawBuilder<Difference> {
  return sql<Difference>`
    select merchant, payment_id as id, 'status' as what, status as found,
      coalesce(history -> -1 ->> 'status', 'none') || ' by its history' as expected
    from payments
    where ${isIn(range, sql`payment_id`)} and history -> -1 ->> 'status' is distinct from status
    union all
    select p.merchant, p.payment_id, 'history',
      (p.history -> n - 1 ->> 'status') || ' ' || (p.history -> n ->> 'status'), 'a transition that there is'
    from payments p cross join lateral generate_series(1, jsonb_array_length(p.history) - 1) as n
    where ${isIn(range, sql`p.payment_id`)}
      and (p.history -> n - 1 ->> 'status') || ' ' || (p.history -> n ->> 'status') <> all(${TRANSITIONS}::text[])`;
}

/**
 * Each status has its event, and each event its status (D20). The record counts its events, and the last ones belong to the last
 * statuses; what `reconcile` inserted counts events that another database emitted.
 */
function compareEvents(range: IdRange, eventsSince: Date): RawBuilder<Difference> {
  return sql<Difference>`
    select coalesce(status.merchant, e.merchant) as merchant, coalesce(status.payment_id, e.resource_id) as id,
      'event ' || coalesce(status.sequence, e.sequence) as what, coalesce(e.type || ' (' || e.event_id || ')', 'none') as found,
      coalesce(status.type, 'none') || ' by its history' as expected,
      case when e.event_id is null then status.at end as missing_since,
      case when e.event_id is null then status.sequence::integer end as missing_sequence
    from (
      select p.merchant, p.payment_id, n - jsonb_array_length(p.history) + p.sequence as sequence,
        case p.kind when 'DEBIT' then 'payment.' else 'refund.' end || lower(p.history -> n::integer - 1 ->> 'status') as type,
        p.history -> n::integer - 1 ->> 'at' as at,
        p.sequence > jsonb_array_length(p.history) and n < jsonb_array_length(p.history) as elsewhere
      from payments p cross join lateral generate_series(1, jsonb_array_length(p.history)) as n
      where ${isIn(range, sql`p.payment_id`)} and n - jsonb_array_length(p.history) + p.sequence >= 1
    ) as status
    full join (
      select event_id, merchant, resource_id, sequence, type from events
      where ${isIn(range, sql`resource_id`)} and split_part(type, '.', 1) in ('payment', 'refund')
    ) as e on e.resource_id = status.payment_id and e.merchant = status.merchant and e.sequence = status.sequence
    where e.type is distinct from status.type
      and (e.event_id is not null
        or coalesce(status.at, '~') collate "C" >= ${eventsSince.toISOString()} and not status.elsewhere)`;
}

/** Each event has a delivery for each subscription that it matches (D20); one that began or ended in its minute may have none. */
function compareFanOut(range: IdRange, eventsSince: Date): RawBuilder<Difference> {
  return sql<Difference>`
    select e.merchant, e.resource_id as id, 'event ' || e.sequence || ' for ' || s.subscription_key as what,
      'not to be delivered' as found, 'delivered until it is past retention' as expected,
      to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as missing_since, e.sequence as missing_sequence
    from events e join subscriptions s on s.merchant = e.merchant
      and s.created_at < e.occurred_at - interval '1 minute'
      and coalesce(s.ended_at > e.occurred_at + interval '1 minute', true)
      and (s.type = 'ALL' or array[e.type, case split_part(e.type, '.', 1) when 'refund' then 'PAYMENT'
        else upper(split_part(e.type, '.', 1)) end] && s.details)
    where ${isIn(range, sql`e.resource_id`)} and e.occurred_at >= ${eventsSince}::timestamptz and not exists (
      select from deliveries d where d.merchant = e.merchant and d.event_id = e.event_id
        and d.subscription_key = s.subscription_key and d.webhook_id >= 'msg_' || substr(e.event_id, 5, 18)
        and d.webhook_id < 'msg_' || substr(e.event_id, 5, 18) || '~')`;
}

/**
 * A refund is authorized and published when its wait is over (D16), by a clock with which that of its server agrees (D30). The time in
 * the event's id is the server's.
 */
async function compareWaits(db: Db, range: IdRange): Promise<Difference[]> {
  type Authorization = { settledAt: Date; at: string | null; publishedAt: Date | null; ahead: boolean };
  const { rows } = await sql<Authorization & Pick<Difference, "merchant" | "id">>`
    select r.merchant, r.payment_id as id, o.settled_at as "settledAt", entry ->> 'at' as at,
      case when production then to_timestamp(f.position / 1000000.0) end as "publishedAt", production and exists (
        select from events e where e.resource_id = r.payment_id and e.merchant = r.merchant and e.type = 'refund.authorized'
          and e.event_id < ${sql.raw(firstIdAt("evt_", "least(greatest(e.occurred_at, 'epoch'), '9999-12-31') - interval '1 minute'"))}) as ahead
    from payments r join payments o on o.payment_id = r.original_payment_id and o.merchant = r.merchant
    cross join lateral jsonb_array_elements(r.history) as entry
    cross join (select exists (select from deployment where mode = 'production') as production) as deployed
    left join payouts f on f.payment_id = r.payment_id and f.merchant = r.merchant
    where ${isIn(range, sql`r.payment_id`)} and r.kind = 'REFUND' and entry ->> 'status' = 'AUTHORIZED' and o.settled_at is not null`.execute(
    db,
  );
  return rows.flatMap(({ merchant, id, settledAt, at, publishedAt, ahead }) => {
    const dueAt = refundDueAt(settledAt);
    const isEarly = !(new Date(at ?? "") >= dueAt) || (publishedAt ?? dueAt) < dueAt;
    if (!isEarly && !ahead) return [];
    const found = publishedAt?.toISOString() ?? at ?? "at no time";
    const expected = isEarly ? `from ${dueAt.toISOString()} on` : "by a clock that its server's agreed with";
    return { merchant, id, what: "authorization", found, expected };
  });
}

/** A refund is published, or waits for it, from when it is authorized, and nothing else is published. */
function comparePayouts(range: IdRange): RawBuilder<Difference> {
  return sql<Difference>`
    select coalesce(p.merchant, f.merchant) as merchant, coalesce(p.payment_id, f.payment_id) as id, 'payout' as what,
      case when f.payment_id is null then 'missing' else coalesce(f.position::text, 'none') end as found,
      case when p.status = 'AUTHORIZED' then 'one that the feed has or will have' else 'none of a refund that is '
        || coalesce(p.status, 'missing') end as expected
    from (select * from payments where ${isIn(range, sql`payment_id`)} and kind = 'REFUND') p
    full join (select * from payouts where ${isIn(range, sql`payment_id`)}) f on f.payment_id = p.payment_id and f.merchant = p.merchant
    left join payouts_waiting w on w.payment_id = p.payment_id and w.merchant = p.merchant
    where p.status is distinct from 'TERMINAL_FAILED' and case
      when p.status = 'AUTHORIZED' then f.payment_id is null and w.payment_id is null
        or f.position > extract(epoch from clock_timestamp()) * 1000000 + 60000000
      else f.payment_id is not null or w.payment_id is not null end`;
}

/** Where changes of operators are recorded, commands have made all of them, and each original payment is as its last one says. */
function compareRecord(range: IdRange): RawBuilder<Difference> {
  return sql<Difference>`
    with by_hand as materialized (
      select * from admin_changes c where ${isIn(range, sql`c.key`)} and c.name = 'payments' and ${isByHand}
    )
    select p.merchant, p.payment_id as id, 'record' as what,
      coalesce(c.state ->> 'status' || ' of ' || (c.state ->> 'amount_cents') || ' by ' || c.operator, 'missing') as found,
      p.status || ' of ' || p.amount_cents || ' by a command' as expected
    from payments p left join lateral (
      (select *, true as is_by_hand from by_hand where key = p.payment_id and merchant = p.merchant limit 1)
      union all (select *, false from admin_changes where key = p.payment_id and merchant = p.merchant and name = 'payments'
        order by number desc limit 1)
      limit 1
    ) as c on true
    where ${isIn(range, sql`p.payment_id`)} and p.created_at > (select min(at) from admin_changes) and (c.is_by_hand or p.kind = 'DEBIT'
      and (c.number is null or (c.state ->> 'status', c.state ->> 'amount_cents') <> (p.status, p.amount_cents::text)))`;
}

/** What the single rows of the tables deployment and feed say wrongly: servers would believe it, and none of them writes it. */
export async function findWrongStates(db: Db): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select 'table deployment: restored_at is ' || restored_at || ', in the future' as line
    from deployment where restored_at > clock_timestamp()
    union all
    select 'table feed: ' || coalesce(max(shown)::text, 'nothing') || ' is shown, and the last payout is '
      || coalesce((select max(position) from payouts)::text, 'none')
    from feed having count(*) <> 1 or max(shown) > coalesce((select max(position) from payouts), 0)`.execute(
    db,
  );
  return rows.map(({ line }) => line);
}

/** A delivery belongs to an event and a subscription, and its state to its attempts (D23). */
function compareDeliveries(range: IdRange): RawBuilder<Difference> {
  return sql<Difference>`
    select d.merchant, d.webhook_id as id, 'delivery' as what,
      d.state || ' of ' || d.event_id || ' to ' || d.subscription_key || ' after ' || d.attempts
        || case when delayed then ', delayed for days' else '' end as found,
      coalesce(e.event_id, 'no event') || ', ' || coalesce(s.subscription_key, 'no subscription') || ', '
        || coalesce(tried.attempts, 0) || ' attempts' as expected
    from deliveries d
    cross join lateral (select greatest(d.due_at, d.leased_until) > clock_timestamp() + interval '3 days'
      and exists (select from deployment where mode = 'production') as delayed) as late
    left join events e on e.event_id = d.event_id and e.merchant = d.merchant
    left join subscriptions s on s.subscription_key = d.subscription_key and s.merchant = d.merchant
    left join (
      select webhook_id, merchant, count(*) as attempts, count(*) filter (where error is null) as successes
      from delivery_attempts where ${isIn(range, sql`webhook_id`)} group by webhook_id, merchant
    ) as tried on tried.webhook_id = d.webhook_id and tried.merchant = d.merchant
    where ${isIn(range, sql`d.webhook_id`)} and (e.event_id is null or s.subscription_key is null or delayed
      or d.attempts > coalesce(tried.attempts, 0) or d.state = 'ENDED' and s.ended_at is null
      or coalesce(tried.successes, 0) = 0 and (d.state = 'DELIVERED'
        or d.state = 'EXHAUSTED' and coalesce(tried.attempts, 0) < ${RETRY_STEPS_MS.length + 1}::integer))`;
}
