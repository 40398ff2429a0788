import { CrowdedError } from "../async/bounded-queue.ts";
import { unavailable } from "../contract/problem.ts";
import type { Refusal } from "../observability/observer.ts";

/*
 * What refuses calls, and whom it protects:
 *
 * | Mechanism                                       | Refuses with | Protects                                                         |
 * |-------------------------------------------------|--------------|------------------------------------------------------------------|
 * | calls under way, in all (here)                  | 503          | the process, from more work than it does in time                 |
 * | calls under way, of one merchant (here)         | 503          | other merchants, from one with too many or too long calls, and   |
 * |                                                 |              | merchants, from callers whose tokens are not known yet           |
 * | a merchant's rate (`rate-limiter.ts`)           | 429          | all servers together, from one merchant who calls too often      |
 * | refunds of locked payments (`bounded-queue.ts`) | 503          | connections to the database, and refunds of all other payments   |
 *
 * When the last one refuses a merchant's refund, the merchant gets no further slot until one of its calls ends.
 */

/** The slot of one request among those under way. */
export type Slot = {
  /** Counts the request for its merchant. Throws `UNAVAILABLE` when too many of this merchant's are under way. */
  assign(merchant: string): void;
  /** Gives the slot back, unless work is being done in it. */
  leave(): void;
  /** Does the request's work, in a new slot if its own was given back. Throws `UNAVAILABLE` when none is free. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
};

export type ConcurrencyLimit = {
  /**
   * Takes a slot for a request that has just arrived, before it costs anything. Its merchant is known if a request with the same
   * header was authenticated before.
   */
  enter(authorization: string | undefined): Slot | Refusal;
  /** What `enter` would refuse this request for now. */
  refusalOf(authorization: string | undefined): Refusal | undefined;
  taken(): number;
};

export type ConcurrencyLimits = {
  total: number;
  /** Less than the total, so that one merchant's requests can't take every slot. */
  perMerchant: number;
};

/**
 * Stands for the merchants of all requests whose tokens are not known yet. Together they have the share of one merchant: while
 * the issuer of tokens doesn't respond, they would otherwise take every slot.
 */
const UNKNOWN = "";

/** How many headers are remembered; when there are more, all are forgotten. */
const MAX_KNOWN = 1_000;

/** Excess requests get 503 with `Retry-After`, because queuing them would only use memory. */
export function createConcurrencyLimit({ total, perMerchant }: ConcurrencyLimits): ConcurrencyLimit {
  let taken = 0;
  const takenBy = new Map<string, number>();
  const merchants = new Map<string, string>();

  /**
   * Lower limits, for merchants that had a request refused because too many wait for the same payment: each is the number under
   * way at that moment, and holds until one of them ends, because further requests would be refused as well.
   */
  const crowded = new Map<string, number>();

  const takenOf = (merchant: string) => takenBy.get(merchant) ?? 0;
  const hasShare = (merchant: string) => takenOf(merchant) < (crowded.get(merchant) ?? perMerchant);

  function countFor(merchant: string, change: 1 | -1): void {
    const left = takenOf(merchant) + change;
    if (left < (crowded.get(merchant) ?? 0)) crowded.delete(merchant);
    if (left === 0) takenBy.delete(merchant);
    else takenBy.set(merchant, left);
  }

  function limitToPresent(merchant: string): void {
    if (merchant !== UNKNOWN && takenOf(merchant) > 0) crowded.set(merchant, takenOf(merchant));
  }

  function remember(authorization: string | undefined, merchant: string): void {
    if (authorization === undefined || merchants.get(authorization) === merchant) return;
    if (merchants.size >= MAX_KNOWN) merchants.clear();
    merchants.set(authorization, merchant);
  }

  const merchantOf = (authorization = "") => merchants.get(authorization) ?? UNKNOWN;
  function refusalOf(merchant: string): Refusal | undefined {
    if (merchant !== UNKNOWN && !hasShare(merchant)) return "merchant full";
    return taken >= total || !hasShare(merchant) ? "full" : undefined;
  }

  return {
    taken: () => taken,
    refusalOf: (authorization) => refusalOf(merchantOf(authorization)),
    enter(authorization) {
      let merchant = merchantOf(authorization);
      let held = false;
      let working = false;
      function take(): boolean {
        if (refusalOf(merchant)) return false;
        taken += 1;
        countFor(merchant, 1);
        held = true;
        return true;
      }
      function leave(): void {
        if (!held || working) return;
        taken -= 1;
        countFor(merchant, -1);
        held = false;
      }
      const refusal = refusalOf(merchant);
      if (refusal) return refusal;
      take();
      return {
        assign(owner) {
          remember(authorization, owner);
          if (owner === merchant) return;
          if (!hasShare(owner)) throw unavailable(undefined, "the merchant has too many calls under way");
          // The caller may have gone meanwhile.
          if (held) {
            countFor(merchant, -1);
            countFor(owner, 1);
          }
          merchant = owner;
        },
        leave,
        async run(work) {
          if (!held && !take()) throw unavailable();
          working = true;
          let isCrowded = false;
          try {
            return await work();
          } catch (error) {
            isCrowded = error instanceof CrowdedError;
            throw error;
          } finally {
            working = false;
            leave();
            if (isCrowded) limitToPresent(merchant);
          }
        },
      };
    },
  };
}
