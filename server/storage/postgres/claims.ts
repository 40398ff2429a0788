import { sql } from "kysely";
import type { Store } from "../database/tables.ts";
import {
  type Attempt,
  type ClaimRequest,
  claimStatement,
  type Shares,
  type SharesRequest,
  sharesStatement,
  toAttempt,
  toInHand,
} from "../statements/claims.ts";

/** Leaves out what another transaction has locked: the dispatch of all deliveries would wait for it. */
export async function freeLeases(store: Store, { all = false } = {}): Promise<void> {
  await sql`
    update deliveries d set leased_until = null, sending = false
    from (
      select webhook_id, merchant from deliveries
      where leased_until is not null and (${all}::boolean or leased_until < clock_timestamp())
      for update skip locked
    ) as ended
    where d.webhook_id = ended.webhook_id and d.merchant = ended.merchant`.execute(store);
}

export async function readShares(
  store: Store,
  { merchants, realNow, ended }: SharesRequest,
): Promise<Shares> {
  const { rows } = await sharesStatement({
    realNow: sql`${realNow}`,
    merchants: sql`${merchants}::text[]`,
    ended: sql`${ended}::text[]`,
  }).execute(store);
  return { now: rows[0]?.now ?? realNow, due: rows.map(toInHand) };
}

export async function claimDeliveries(store: Store, request: ClaimRequest): Promise<Attempt[]> {
  const { claimLimits, now, leaseMs } = request;
  const limits = sql`unnest(
        ${claimLimits.map(({ subscriptionKey }) => subscriptionKey)}::text[],
        ${claimLimits.map(({ merchant }) => merchant)}::text[],
        ${claimLimits.map(({ limit }) => limit)}::integer[]
      ) as claim_limit (subscription_key, merchant, up_to)`;
  const { rows } = await claimStatement({ limits, now: sql`${now}`, leaseMs: sql`${leaseMs}` }).execute(
    store,
  );
  return rows.map(toAttempt);
}
