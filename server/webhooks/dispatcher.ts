import type { DomainClock } from "../domain/clock.ts";
import { claimDeliveries, countInHand, findDueSubscriptions } from "../storage/delivery-claims.ts";
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

/** How long a turn that somebody is woken for waits after the one before, in milliseconds: what comes meanwhile shares it. */
const PAUSE_MS = 10;

/** Takes a turn at once when it is quiet, and with others when it is not. */
export function createWake(
  takeTurn: () => Promise<void>,
  onError: (error: unknown) => void,
): { wake(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let quietAtMs = 0;
  let stopped = false;

  function turn(): void {
    timer = undefined;
    takeTurn()
      .catch(onError)
      .finally(() => {
        quietAtMs = performance.now() + PAUSE_MS;
      });
    quietAtMs = Number.POSITIVE_INFINITY;
  }
  return {
    wake() {
      if (stopped || timer) return;
      const waitMs = Math.min(quietAtMs - performance.now(), PAUSE_MS);
      if (waitMs <= 0) turn();
      else timer = setTimeout(turn, waitMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
