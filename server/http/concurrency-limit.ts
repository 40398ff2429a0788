import { unavailable } from "../contract/problem.ts";

/** Whose work it is. */
export type LimitedCaller = {
  merchant: string;
  /** The header with the access token. */
  authorization: string | undefined;
};

/** Bounds how many requests use the store at a time. */
export type ConcurrencyLimit = {
  /** Runs a piece of work. Throws `UNAVAILABLE` at once when too many are running, in all or for its merchant. */
  run<Result>(work: () => Promise<Result>, caller?: LimitedCaller): Promise<Result>;
  /**
   * Whether the next piece of work would be refused now. Only `overload.ts` asks: before a request costs anything, and so by
   * the header alone, of which the merchant is known once a request with it was refused.
   */
  isFull(authorization: string | undefined): boolean;
};

export type ConcurrencyLimits = {
  total: number;
  /** Less than the total, so that no merchant's requests can keep those of all others out. */
  perMerchant: number;
};

/** How many headers are remembered; then the memory of them begins anew. */
const MAX_KNOWN = 1_000;

/** Excess requests get 503 with `Retry-After`, because queuing them would only use memory. */
export function createConcurrencyLimit({ total, perMerchant }: ConcurrencyLimits): ConcurrencyLimit {
  let running = 0;
  const runningOf = new Map<string, number>();
  const merchants = new Map<string, string>();
  const hasShare = (merchant: string) => (runningOf.get(merchant) ?? 0) < perMerchant;

  function count(change: 1 | -1, merchant: string | undefined): void {
    running += change;
    if (merchant === undefined) return;
    const left = (runningOf.get(merchant) ?? 0) + change;
    if (left === 0) runningOf.delete(merchant);
    else runningOf.set(merchant, left);
  }

  function refuse({ merchant, authorization }: LimitedCaller): never {
    if (merchants.size >= MAX_KNOWN) merchants.clear();
    if (authorization !== undefined) merchants.set(authorization, merchant);
    throw unavailable(undefined, "the merchant has too many calls under way");
  }

  return {
    isFull(authorization) {
      const merchant = authorization === undefined ? undefined : merchants.get(authorization);
      return running >= total || (merchant !== undefined && !hasShare(merchant));
    },
    async run(work, caller) {
      if (running >= total) throw unavailable();
      if (caller && !hasShare(caller.merchant)) refuse(caller);
      count(1, caller?.merchant);
      try {
        return await work();
      } finally {
        count(-1, caller?.merchant);
      }
    },
  };
}
