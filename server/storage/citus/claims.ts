import { sql } from "kysely";
import type { ClaimLimit } from "../../domain/fair-shares.ts";
import type { Store } from "../database/tables.ts";
import {
  type Attempt,
  type AttemptRow,
  type ClaimRequest,
  type InHandRow,
  type Shares,
  type SharesRequest,
  toAttempt,
  toInHand,
} from "../statements/claims.ts";
import { type OfMerchant, statementsOf, storeOf } from "../statements/statements.ts";
import { callOnShards } from "./functions.ts";

/**
 * A change of the rows of all merchants would hold up every other change of the distributed table. What another transaction has
 * locked is left out, because the dispatch of all deliveries would wait for it.
 */
export async function freeLeases(store: Store, { all = false } = {}): Promise<void> {
  const merchants = await findLeaseHolders(store, all);
  const changes = merchants.map(async (merchant) =>
    sql`
      update deliveries set leased_until = null, sending = false
      where merchant = ${merchant} and webhook_id in (
        select webhook_id from deliveries
        where merchant = ${merchant} and leased_until is not null and (${all}::boolean or leased_until < now())
        for update skip locked)`.execute(await storeOf(store, merchant)),
  );
  await Promise.allSettled(changes); // where one fails, the others are made all the same
  await Promise.all(changes);
}

/** Merchants with a delivery whose lease has run out, or with one in progress. */
async function findLeaseHolders(store: Store, all: boolean): Promise<string[]> {
  const rows = await statementsOf(store).findOverall(
    store,
    sql<{ merchant: string }>`
      select distinct merchant from deliveries
      where leased_until is not null and (${all}::boolean or leased_until < now())`,
  );
  return rows.map(({ merchant }) => merchant);
}

export async function readShares(
  store: Store,
  items: readonly OfMerchant[],
  { realNow, ended }: Omit<SharesRequest, "merchants">,
): Promise<Shares> {
  const rows = await callOnShards<InHandRow & { now: string }>(store, "readShares", items, {
    realNow,
    ended,
  });
  return { now: new Date(rows[0]?.now ?? realNow), due: rows.map(toInHand) };
}

/** The shares of several parts, in a random order again. */
export function mergeShares(parts: readonly Shares[], realNow: Date): Shares {
  const due = parts.flatMap((part) => part.due.map((holder) => ({ holder, rank: Math.random() })));
  const now = parts.find((part) => part.due.length > 0)?.now ?? realNow;
  return { now, due: due.sort((a, b) => a.rank - b.rank).map(({ holder }) => holder) };
}

/** A row of `claimStatement` in JSON. */
type ClaimedRow = Omit<AttemptRow, "secret_ciphertext" | "old_secret_ciphertext"> & {
  secret_ciphertext: string;
  old_secret_ciphertext: string | null;
};

export async function claimDeliveries(
  store: Store,
  claimLimits: readonly ClaimLimit[],
  { now, leaseMs }: Pick<ClaimRequest, "now" | "leaseMs">,
): Promise<Attempt[]> {
  const items = claimLimits.map(({ subscriptionKey, merchant, limit }) => {
    return { subscription_key: subscriptionKey, merchant, up_to: limit };
  });
  const rows = await callOnShards<ClaimedRow>(store, "claimDeliveries", items, { now, leaseMs });
  return rows.map((row) => {
    const { secret_ciphertext: secret, old_secret_ciphertext: old, ...rest } = row;
    return toAttempt({
      ...rest,
      secret_ciphertext: toBytes(secret),
      old_secret_ciphertext: old === null ? null : toBytes(old),
    });
  });
}

/** Of bytes as PostgreSQL writes them in JSON: `\x` and hexadecimal digits. */
function toBytes(text: string): Uint8Array {
  return Buffer.from(text.slice(2), "hex");
}
