import { createHash } from "node:crypto";
import { type QueryExecutorProvider, type RawBuilder, sql } from "kysely";
import { ADVISORY_LOCKS } from "../database/advisory-locks.ts";
import type { Store } from "../database/tables.ts";
import { DELIVERIES_CHANNEL, MAX_NAME_BYTES } from "../statements/events.ts";

/*
 * Work that changes several tables of one merchant, as functions that Citus runs whole on the machine with that merchant's rows:
 * one call, and one commit there. On one database each is a single statement, which Citus would cut into parts. Each change
 * here is one that Citus passes on as it is: to one merchant, and for an insert to one row.
 */

/** What `saveRefunds` does, for the refunds of one merchant. */
const SAVE_REFUNDS = `(the_merchant text, refunds json, lock_timeout_ms integer) returns text[] language plpgsql as $$
  declare
    refund record;
    originals jsonb;
    original jsonb;
    subscription record;
    ids text[] := array(select value ->> 'original_payment_id' from json_array_elements(refunds));
    saved text[] := '{}';
    woken boolean := false;
    held boolean;
  begin
    perform set_config('lock_timeout', lock_timeout_ms::text, true);
    perform from payments
      where merchant = the_merchant and payment_id = any(ids)
      order by payment_id
      for update;
    originals := (
      select jsonb_object_agg(payment_id, jsonb_build_object('kind', kind, 'status', status, 'settled_at', settled_at,
        'left_cents', amount_cents - refunded_cents))
      from payments where merchant = the_merchant and payment_id = any(ids));
    held := exists (select from holds where merchant in ('', the_merchant));
    for refund in
      select * from json_to_recordset(refunds) as source (
        position integer, payment_id text, status text, amount_cents bigint, request_key text,
        client_reference_id text, soft_descriptor text, due_at timestamptz, error_code text, error_message text,
        history jsonb, created_at timestamptz, original_payment_id text, original_kind text, original_status text,
        original_settled_at timestamptz, refundable boolean, cents_before bigint,
        event_id text, event_type text, event_category text, event_payload text, caller jsonb,
        trace jsonb)
      order by request_key, position
    loop
      original := originals -> refund.original_payment_id;
      continue when original is null or original ->> 'kind' <> refund.original_kind
        or original ->> 'status' <> refund.original_status
        or (original ->> 'settled_at')::timestamptz is distinct from refund.original_settled_at
        or not case when refund.refundable
          then refund.cents_before + refund.amount_cents <= (original ->> 'left_cents')::bigint
          else refund.amount_cents > (original ->> 'left_cents')::bigint end
        or refund.status = 'AUTHORIZED' and held;
      insert into payments (payment_id, merchant, kind, status, amount_cents, request_key, client_reference_id,
          soft_descriptor, original_payment_id, due_at, error_code, error_message, history, sequence, created_at)
        values (refund.payment_id, the_merchant, 'REFUND', refund.status, refund.amount_cents, refund.request_key,
          refund.client_reference_id, refund.soft_descriptor, refund.original_payment_id, refund.due_at,
          refund.error_code, refund.error_message, refund.history, 1, refund.created_at)
        on conflict (request_key, merchant) do nothing;
      continue when not found;
      if refund.status <> 'TERMINAL_FAILED' then
        update payments set refunded_cents = refunded_cents + refund.amount_cents
          where payment_id = refund.original_payment_id and merchant = the_merchant;
      end if;
      if refund.status = 'AUTHORIZED' then
        insert into payouts_waiting (payment_id, merchant, authorized_at)
          values (refund.payment_id, the_merchant, refund.created_at);
      end if;
      insert into events (event_id, merchant, type, resource_id, sequence, occurred_at, payload, caller, trace)
        values (refund.event_id, the_merchant, refund.event_type, refund.payment_id, 1, refund.created_at,
          refund.event_payload, refund.caller, refund.trace);
      for subscription in
        select subscription_key from subscriptions s
        where s.merchant = the_merchant and s.ended_at is null and case s.type
          when 'EVENT' then refund.event_type = any(s.details)
          when 'CATEGORY' then refund.event_category = any(s.details)
          else true end
      loop
        insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
          values ('msg_' || substr(refund.event_id, 5, 18) || substr(gen_random_uuid()::text, 19),
            refund.event_id, the_merchant, subscription.subscription_key, refund.created_at);
        woken := true;
      end loop;
      saved := saved || refund.payment_id;
    end loop;
    -- It reaches those who listen on this machine.
    if woken then
      perform pg_notify('${DELIVERIES_CHANNEL}',
        case when octet_length(the_merchant) <= ${MAX_NAME_BYTES} then the_merchant else '' end);
    end if;
    return saved;
  end $$`;

/**
 * What `recordAttempts` does, for the attempts of one merchant. The coordinator's clock has set the leases, and the worker's is
 * compared with them here, so both must be in step.
 */
const RECORD_ATTEMPTS = `(the_merchant text, results json) returns text[] language plpgsql as $$
  declare
    result record;
    delivery record;
    subscription record;
    next_state json;
    domain_now timestamptz;
    offset_interval interval;
    earlier integer;
    recorded text[] := '{}';
  begin
    perform set_config('synchronous_commit', 'off', true);
    offset_interval := coalesce((select offset_ms from clock), 0) * interval '1 ms';
    perform from deliveries
      where merchant = the_merchant
        and webhook_id = any(array(select value ->> 'webhook_id' from json_array_elements(results)))
      order by webhook_id
      for update;
    for result in
      select * from json_to_recordset(results) as source (webhook_id text, fence integer, next json,
        ends_subscription boolean, ended_at timestamptz, at timestamptz, status integer, error text,
        milliseconds integer, response text)
      order by ends_subscription desc, webhook_id
    loop
      select subscription_key, redelivery_requested, only_once, fence, sending, leased_until into delivery from deliveries
        where webhook_id = result.webhook_id and merchant = the_merchant;
      continue when not found or delivery.fence <> result.fence or not delivery.sending
        or delivery.leased_until <= clock_timestamp();
      select ended_at is not null as ended into subscription from subscriptions
        where subscription_key = delivery.subscription_key and merchant = the_merchant;
      continue when not found;
      domain_now := result.ended_at + offset_interval;
      next_state := result.next -> case
        when delivery.redelivery_requested then 'redelivery'
        when subscription.ended or result.ends_subscription then 'subscription-ended'
        when delivery.only_once then 'only-once'
        else 'undisturbed' end;
      update deliveries set
          leased_until = null, sending = false, redelivery_requested = false,
          state = next_state ->> 'state',
          attempts = (next_state ->> 'attempts')::integer,
          only_once = delivery.only_once or (next_state ->> 'onlyOnce')::boolean,
          due_at = domain_now + (next_state ->> 'dueAfterMs')::bigint * interval '1 ms'
        where webhook_id = result.webhook_id and merchant = the_merchant;
      earlier := (select max(number) from delivery_attempts
        where webhook_id = result.webhook_id and merchant = the_merchant);
      insert into delivery_attempts
          (webhook_id, merchant, number, at, domain_at, status, error, milliseconds, response)
        values (result.webhook_id, the_merchant, coalesce(earlier, 0) + 1, result.at,
          domain_now, result.status, result.error, result.milliseconds, result.response);
      if result.ends_subscription and not subscription.ended then
        update subscriptions set ended_at = domain_now, secret_ciphertext = null, old_secret_ciphertext = null
          where subscription_key = delivery.subscription_key and merchant = the_merchant and ended_at is null;
      end if;
      recorded := recorded || result.webhook_id;
    end loop;
    return recorded;
  end $$`;

/**
 * Runs a query on every shard of this machine, and returns its rows. In its text `%1$s` to `%5$s` stand for the shards of the
 * payments, the subscriptions, the deliveries, the events and the payouts that wait.
 */
const ON_LOCAL_SHARDS = `(query text) returns json language plpgsql as $$
  declare
    queries text;
    found json;
  begin
    select string_agg(format('(' || query || ')', shard_name(p.logicalrelid, p.shardid),
        shard_name(s.logicalrelid, s.shardid), shard_name(d.logicalrelid, d.shardid),
        shard_name(e.logicalrelid, e.shardid), shard_name(w.logicalrelid, w.shardid)), ' union all ')
      into queries
      from pg_dist_shard p
      join pg_dist_shard s on s.shardminvalue = p.shardminvalue and s.logicalrelid = 'subscriptions'::regclass
      join pg_dist_shard d on d.shardminvalue = p.shardminvalue and d.logicalrelid = 'deliveries'::regclass
      join pg_dist_shard e on e.shardminvalue = p.shardminvalue and e.logicalrelid = 'events'::regclass
      join pg_dist_shard w on w.shardminvalue = p.shardminvalue and w.logicalrelid = 'payouts_waiting'::regclass
      join pg_dist_placement placement on placement.shardid = p.shardid
      join pg_dist_local_group here on here.groupid = placement.groupid
      where p.logicalrelid = 'payments'::regclass;
    if queries is null then return '[]'; end if;
    execute 'select coalesce(json_agg(row), ''[]'') from (' || queries || ') as row' into found;
    return found;
  end $$`;

/**
 * A function whose name holds a part of its content's hash, so that servers of two releases, with different functions, can run
 * side by side.
 */
function named(name: string, definition: string) {
  const hash = createHash("sha256").update(definition).digest("hex").slice(0, 8);
  return { name: `${name}_${hash}`, definition };
}

/** All of them; the database needs no Citus for those of one merchant. */
export const FUNCTIONS = {
  saveRefunds: named("save_refunds", SAVE_REFUNDS),
  recordAttempts: named("record_attempts", RECORD_ATTEMPTS),
  onLocalShards: named("on_local_shards", ON_LOCAL_SHARDS),
};

/** The name of the function that runs a query on every shard of the machine on which it is called. */
export function onLocalShards(): string {
  return FUNCTIONS.onLocalShards.name;
}

/** Creates the functions of this release in a database with distributed tables, where they are missing. */
export async function installFunctions(store: Store): Promise<void> {
  const missing = await findMissing(store);
  if (missing.length === 0) return;
  await store.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.functions}::integer, 0)`.execute(transaction);
    for (const { name, definition } of await findMissing(transaction)) {
      await sql.raw(`create or replace function ${name} ${definition}`).execute(transaction);
      const placed =
        name === onLocalShards()
          ? sql`create_distributed_function(oid::regprocedure)`
          : sql`create_distributed_function(oid::regprocedure, '$1', colocate_with => 'payments')`;
      await sql`select ${placed} from pg_proc where proname = ${name}`.execute(transaction);
    }
  });
}

/**
 * Also those that are on the coordinator only, as after a restored dump, and those that belong to tables from before these were
 * brought back to one machine and distributed again.
 */
async function findMissing(store: QueryExecutorProvider) {
  const all = Object.values(FUNCTIONS);
  const { rows } = await sql<{ proname: string }>`
    select proname from pg_proc join pg_dist_object on classid = 'pg_proc'::regclass and objid = pg_proc.oid
    where proname = any(${all.map(({ name }) => name)}::text[]) and (proname = ${onLocalShards()}
      or colocationid = (select colocationid from pg_dist_partition where logicalrelid = 'payments'::regclass))`.execute(
    store,
  );
  return all.filter(({ name }) => !rows.some(({ proname }) => proname === name));
}

/**
 * Calls a function for a merchant. Citus passes on only a statement that does nothing else.
 *
 * @param rest the arguments after the merchant
 */
export async function callFunction<Result>(
  store: QueryExecutorProvider,
  name: "saveRefunds" | "recordAttempts",
  merchant: string,
  ...rest: readonly RawBuilder<unknown>[]
): Promise<Result> {
  const { rows } = await sql<{ result: Result }>`
    select ${sql.raw(FUNCTIONS[name].name)}(${sql.join([sql`${merchant}::text`, ...rest])}) as result`.execute(
    store,
  );
  const [row] = rows;
  if (!row) throw new Error("a function gave no row");
  return row.result;
}
