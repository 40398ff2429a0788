import type { DomainClock } from "../domain/clock.ts";
import {
  claimDeliveries,
  countInHand,
  findDueSubscriptions,
  freeLeases,
} from "../storage/delivery-claims.ts";
import type { Store } from "../storage/tables.ts";
import type { Queue } from "./queue.ts";
import { type Limits, shareOut } from "./shares.ts";

export type DispatcherParts = {
  readonly db: Store;
  readonly clock: DomainClock;
  readonly queue: Pick<Queue, "insert">;
  readonly limits: Limits;
  readonly leaseMs: number;
};

/** Claims what is due, as much as may be in hand, and hands it to the queue by the same transaction. */
export async function dispatch({ db, clock, queue, limits, leaseMs }: DispatcherParts): Promise<void> {
  await freeLeases(db);
  const now = await clock.now();
  const due = await findDueSubscriptions(db, now);
  if (due.length === 0) return;
  await db.transaction().execute(async (transaction) => {
    const quotas = shareOut(due, await countInHand(transaction), limits);
    if (quotas.length === 0) return;
    const claims = await claimDeliveries(transaction, { quotas, now, leaseMs });
    if (claims.length > 0) await queue.insert(transaction, claims);
  });
}

/** Runs work that is asked for more often than it is needed: calls during a run share the one that follows it. */
export function createTurns(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function begin(): Promise<void> {
    next = undefined;
    current = work().finally(() => {
      current = undefined;
    });
    return current;
  }

  return () => {
    if (!current) return begin();
    next ??= current.then(begin, begin);
    return next;
  };
}
