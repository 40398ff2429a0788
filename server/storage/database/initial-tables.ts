import { type Kysely, sql } from "kysely";
import { paymentGuards } from "./payment-triggers.ts";

/*
 * The first migration: all tables. Ids and keys are compared byte for byte (D10): collation "C" does so whatever the server's locale is, and its indexes
 * survive an upgrade of the system's locale data.
 *
 * Instants that the server reads have three decimals, as a JavaScript Date has: otherwise a condition that compares an instant
 * with the one that was read would never hold for a row that another program wrote with six.
 *
 * The merchant is part of every primary key, so that the tables can be spread over machines by merchant, and that a search for
 * another merchant's payment costs as much as for an unknown one; small tables, which each machine has, need no merchant. The id comes
 * first, because scans follow the order of ids.
 *
 * Most indexes serve one query, and hold only rows that the query can return: a claim reads the ready deliveries of one
 * subscription in the order of their due times, however many other subscriptions have.
 */
const statements = [
  `create table access_tokens (
    token_sha256 bytea primary key check (octet_length(token_sha256) = 32),
    merchant text collate "C" not null,
    scopes text[] not null
  )`,

  // Its other rules are in `payment-triggers.ts`.
  `create table payments (
    payment_id text collate "C" not null,
    merchant text collate "C" not null,
    kind text not null,
    status text not null,
    amount_cents bigint not null,
    request_key text collate "C",
    client_reference_id text,
    soft_descriptor text,
    original_payment_id text collate "C",
    refunded_cents bigint not null default 0,
    settled_at timestamptz(3),
    due_at timestamptz(3),
    error_code text,
    error_message text,
    history jsonb not null,
    sequence integer not null,
    created_at timestamptz(3) not null,
    primary key (payment_id, merchant),
    constraint refunded_within_amount check (refunded_cents between 0 and amount_cents)
  )`,
  // The request key comes first: a plan made while the table is empty would read all rows of a merchant through (merchant, request_key).
  "create unique index payments_request_key on payments (request_key, merchant)",
  `create index payments_due on payments (due_at, payment_id, merchant)
    where kind = 'REFUND' and status = 'PENDING' and due_at is not null`,
  "create index payments_original on payments (original_payment_id, merchant) where original_payment_id is not null",
  // The condition is always true: it is there so that only queries that repeat it use the index. Without it PostgreSQL also used
  // the index to find one payment, as long as the table was new and the primary key seemed no better; it kept that plan, and each
  // refund read all rows of a merchant.
  "create index payments_newest on payments (merchant, created_at desc, payment_id desc) where sequence >= 0",

  // Written with each authorization, and emptied by `publishPayouts`.
  `create table payouts_waiting (
    payment_id text collate "C" not null,
    merchant text collate "C" not null,
    authorized_at timestamptz(3) not null,
    primary key (payment_id, merchant)
  )`,
  // `paid_as`: the id under which the payment system had paid it before the database was restored; it is not published again.
  `create table payouts (
    payment_id text collate "C" not null,
    merchant text collate "C" not null,
    authorized_at timestamptz(3),
    position bigint unique,
    paid_as text collate "C",
    primary key (payment_id, merchant),
    constraint published_or_paid check (num_nonnulls(position, paid_as) = 1 and (position is null or authorized_at is not null))
  )`,
  // All that the payment system may read. A refund that has failed since is left out, because its money must not move.
  `create view payout_feed as
    select f.position, p.merchant, p.payment_id, p.request_key, p.original_payment_id, p.amount_cents,
      p.client_reference_id, p.soft_descriptor, f.authorized_at
    from payouts f join payments p on p.payment_id = f.payment_id and p.merchant = f.merchant
    where f.position is not null and p.status = 'AUTHORIZED'`,

  // `trace`: of the call that caused it, so that its deliveries can send it days later (D33).
  `create table events (
    event_id text collate "C" not null,
    merchant text collate "C" not null,
    type text not null,
    resource_id text collate "C" not null,
    sequence integer not null check (sequence >= 1),
    occurred_at timestamptz(3) not null,
    payload text not null,
    caller jsonb,
    trace jsonb,
    primary key (event_id, merchant),
    constraint trace_fits check (trace is null or (
      coalesce(trace ->> 'traceparent', '') ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'
      and coalesce(trace ->> 'tracestate', 'x') ~ '^[ -~]+$' and length(coalesce(trace ->> 'tracestate', '')) <= 512))
  )`,
  // Payments, accounts and customers may share an id: each kind of resource counts its own events.
  "create unique index events_sequence on events (resource_id, merchant, split_part(type, '.', 1), sequence)",

  `create table subscriptions (
    subscription_key text collate "C" not null,
    merchant text collate "C" not null,
    url text not null,
    secret_ciphertext bytea,
    old_secret_ciphertext bytea,
    old_secret_until timestamptz(3),
    secret_changed_at timestamptz(3),
    type text not null check (type in ('EVENT', 'CATEGORY', 'ALL')),
    details text[] not null,
    created_at timestamptz(3) not null,
    ended_at timestamptz(3),
    timeouts integer check (timeouts >= 0),
    caller jsonb,
    primary key (subscription_key, merchant),
    constraint secret_while_live check ((ended_at is null) = (secret_ciphertext is not null)),
    constraint old_secret_fits check (old_secret_ciphertext is null or ended_at is null and old_secret_until is not null)
  )`,
  "create index subscriptions_old_secrets on subscriptions (old_secret_until) where old_secret_ciphertext is not null",
  "create index subscriptions_callers on subscriptions (subscription_key) where caller is not null",
  "create index subscriptions_live on subscriptions (merchant) where ended_at is null",

  // No foreign keys from a delivery to its event and subscription: they would lock a row of each for every event, on the path of
  // every refund. Whatever deletes rows leaves out events and subscriptions that have deliveries, or deletes these as well.
  `create table deliveries (
    webhook_id text collate "C" not null,
    event_id text collate "C" not null,
    merchant text collate "C" not null,
    subscription_key text collate "C" not null,
    state text not null default 'PENDING' check (state in ('PENDING', 'DELIVERED', 'EXHAUSTED', 'ENDED')),
    due_at timestamptz(3),
    attempts integer not null default 0 check (attempts >= 0),
    only_once boolean not null default false,
    redelivery_requested boolean not null default false,
    fence integer not null default 0,
    leased_until timestamptz,
    sending boolean not null default false,
    primary key (webhook_id, merchant),
    constraint due_while_pending check ((state = 'PENDING') = (due_at is not null)),
    constraint leased_while_pending check (state = 'PENDING' or leased_until is null),
    constraint sending_while_leased check (leased_until is not null or not sending)
  )`,
  `create index deliveries_ready on deliveries (subscription_key, due_at)
    where state = 'PENDING' and leased_until is null`,
  `create index deliveries_leased on deliveries (subscription_key, merchant, sending, leased_until)
    where leased_until is not null`,
  "create index deliveries_newest on deliveries (merchant, webhook_id desc)",
  // For operators, who list exhausted deliveries: few among all that are kept.
  "create index deliveries_exhausted on deliveries (webhook_id desc) where state = 'EXHAUSTED'",

  `create table delivery_attempts (
    webhook_id text collate "C" not null,
    merchant text collate "C" not null,
    number integer not null check (number >= 1),
    at timestamptz(3) not null,
    domain_at timestamptz(3),
    status integer,
    error text,
    milliseconds integer not null check (milliseconds >= 0),
    response text,
    primary key (webhook_id, number, merchant),
    constraint delivery_attempts_delivery_fkey foreign key (webhook_id, merchant)
      references deliveries (webhook_id, merchant) on delete cascade
  )`,

  `create table clock (
    single_row boolean primary key default true check (single_row),
    offset_ms bigint not null check (offset_ms >= 0)
  )`,

  // Whose refunds are not authorized for now; the empty text stands for all merchants.
  `create table holds (
    merchant text collate "C" primary key,
    reason text not null check (reason <> ''),
    held_at timestamptz(3) not null default clock_timestamp()
  )`,

  // Whose calls are refused. Every server has all of them in memory.
  `create table blocks (
    kind text not null check (kind in ('merchant', 'client', 'token')),
    name text collate "C" not null check (name <> ''),
    reason text not null check (reason <> ''),
    blocked_at timestamptz(3) not null default clock_timestamp(),
    until timestamptz(3),
    primary key (kind, name)
  )`,

  `create table deployment (
    single_row boolean primary key default true check (single_row),
    mode text not null check (mode in ('sandbox', 'production')),
    restored_at timestamptz
  )`,

  // What the command `erase` was asked for, so that events it has erased are not taken for lost.
  `create table erasures (
    merchant text collate "C" primary key,
    before timestamptz(3) not null
  )`,

  // The same for payments and refunds that a customer's reference led to: their events up to this number are erased.
  `create table erased_payments (
    payment_id text collate "C" not null,
    merchant text collate "C" not null,
    sequence integer not null check (sequence >= 1),
    primary key (payment_id, merchant)
  )`,

  // The result of the last comparison of the database with itself.
  `create table last_check (
    single_row boolean primary key default true check (single_row),
    ended_at timestamptz(3) not null,
    records bigint not null check (records >= 0),
    differences bigint not null check (differences >= 0)
  )`,

  // Unlogged, because it is written often, and after a crash every merchant may begin with a full bucket.
  `create unlogged table rate_limits (
    merchant text collate "C" primary key,
    full_at timestamptz not null
  )`,
] as const;

export const initialTables = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of [...statements, ...paymentGuards]) await sql.raw(statement).execute(db);
  },
};
