import { type Kysely, sql } from "kysely";

/*
 * Ids and keys are compared byte for byte (D10): collation "C" does so whatever the server's locale is, and its indexes
 * survive an upgrade of the system's locale data.
 *
 * Instants have three decimals, as a JavaScript Date has: otherwise a condition that compares an instant with the one
 * that was read would never hold for a row that another program wrote with six.
 *
 * The merchant is part of the primary key, so that a search for another merchant's payment costs as much as for an unknown one.
 */
const statements = [
  `create table access_tokens (
    token_sha256 bytea primary key check (octet_length(token_sha256) = 32),
    merchant text collate "C" not null,
    scopes text[] not null
  )`,

  `create table payments (
    payment_id text collate "C" not null,
    merchant text collate "C" not null,
    kind text not null check (kind in ('DEBIT', 'REFUND')),
    status text not null,
    amount_cents bigint not null check (amount_cents between 1 and 999999999999),
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
    sequence integer not null check (sequence >= 0),
    created_at timestamptz(3) not null,
    primary key (payment_id, merchant),
    foreign key (original_payment_id, merchant) references payments (payment_id, merchant),
    constraint refunded_within_amount check (refunded_cents between 0 and amount_cents),
    constraint debit_fits check (kind <> 'DEBIT' or (
      status in ('PROCESSING', 'SETTLED', 'FAILED', 'COVERED')
      and (status not in ('SETTLED', 'COVERED') or settled_at is not null)
      and num_nonnulls(original_payment_id, due_at, error_code, error_message) = 0)),
    constraint refund_fits check (kind <> 'REFUND' or (
      status in ('PENDING', 'AUTHORIZED', 'TERMINAL_FAILED')
      and num_nulls(original_payment_id, request_key) = 0
      and refunded_cents = 0 and settled_at is null
      and num_nonnulls(error_code, error_message) = case when status = 'TERMINAL_FAILED' then 2 else 0 end))
  )`,
  // In this order: a plan made while the table is empty would read all rows of a merchant through (merchant, request_key).
  "create unique index payments_request_key on payments (request_key, merchant)",
  `create index payments_due on payments (due_at)
    where kind = 'REFUND' and status = 'PENDING' and due_at is not null`,
  "create index payments_original on payments (original_payment_id, merchant) where original_payment_id is not null",
  "create index payments_newest on payments (merchant, created_at desc, payment_id desc)",

  `create table events (
    event_id text collate "C" primary key,
    merchant text collate "C" not null,
    type text not null,
    resource_id text collate "C" not null,
    sequence integer not null check (sequence >= 1),
    occurred_at timestamptz(3) not null,
    payload text not null,
    dispatched_at timestamptz(3)
  )`,
  // Payments, accounts and customers may share an id: each kind of resource counts its own events.
  "create unique index events_sequence on events (resource_id, merchant, split_part(type, '.', 1), sequence)",
  "create index events_waiting on events (event_id) where dispatched_at is null",

  `create table subscriptions (
    subscription_key text collate "C" primary key,
    merchant text collate "C" not null,
    url text not null,
    secret_ciphertext bytea not null,
    type text not null check (type in ('EVENT', 'CATEGORY', 'ALL')),
    details text[] not null,
    created_at timestamptz(3) not null,
    ended_at timestamptz(3)
  )`,
  "create index subscriptions_live on subscriptions (merchant) where ended_at is null",

  `create table clock (
    single_row boolean primary key default true check (single_row),
    offset_ms bigint not null check (offset_ms >= 0)
  )`,
] as const;

export const firstTables = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
