import { type Kysely, sql } from "kysely";

/*
 * No foreign keys from a delivery to its event and subscription: they would lock a row of each for every event, on the
 * path of every refund. The reset, which deletes a merchant's data, deletes all three under one lock.
 *
 * Each index serves one query, and holds only rows that the query can return: a claim reads the ready deliveries of one
 * subscription in the order of their due times, however many other subscriptions have.
 */
const statements = [
  // From here on `deliveries` holds what is to be sent, and `events` only records what happened.
  "drop index events_waiting",
  "alter table events drop column dispatched_at",

  `create table deliveries (
    webhook_id text collate "C" primary key,
    event_id text collate "C" not null,
    merchant text collate "C" not null,
    subscription_key text collate "C" not null,
    state text not null default 'PENDING' check (state in ('PENDING', 'DELIVERED', 'EXHAUSTED', 'ENDED')),
    due_at timestamptz(3),
    attempts integer not null default 0 check (attempts >= 0),
    forced boolean not null default false,
    again boolean not null default false,
    fence integer not null default 0,
    leased_until timestamptz,
    sending boolean not null default false,
    constraint due_while_pending check ((state = 'PENDING') = (due_at is not null)),
    constraint leased_while_pending check (state = 'PENDING' or leased_until is null),
    constraint sending_while_leased check (leased_until is not null or not sending)
  )`,
  `create index deliveries_ready on deliveries (subscription_key, due_at)
    where state = 'PENDING' and leased_until is null`,
  `create index deliveries_leased on deliveries (subscription_key, merchant, sending, leased_until)
    where leased_until is not null`,
  "create index deliveries_newest on deliveries (merchant, webhook_id desc)",

  `create table delivery_attempts (
    webhook_id text collate "C" not null references deliveries on delete cascade,
    number integer not null check (number >= 1),
    at timestamptz(3) not null,
    status integer,
    error text,
    milliseconds integer not null check (milliseconds >= 0),
    answer text,
    primary key (webhook_id, number)
  )`,
] as const;

export const deliveries = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};
