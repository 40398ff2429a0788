import type { DueSubscription, InHand, Quota } from "../storage/delivery-claims.ts";

/** How much may be in hand at once, at all servers together, so that a slow receiver holds up nobody but itself. */
export type Limits = {
  /** Attempts of one subscription. */
  readonly perSubscription: number;
  /** Attempts of one merchant, who may have subscribed one dead endpoint a hundred times. */
  readonly perMerchant: number;
  /** What waits for a free place. */
  readonly waiting: number;
};

/**
 * How many deliveries of each subscription to claim: places are dealt out one by one, in the order given, until nobody
 * may have more. So the first place of the last subscription comes before the second place of the first.
 */
export function shareOut(
  due: readonly DueSubscription[],
  inHand: readonly InHand[],
  limits: Limits,
): Quota[] {
  const bySubscription = sumBy(inHand, (entry) => entry.subscriptionKey);
  const byMerchant = sumBy(inHand, (entry) => entry.merchant);
  const dealt = new Map<string, number>();
  let free = limits.waiting - inHand.reduce((sum, entry) => sum + entry.waiting, 0);

  let candidates = [...due];
  while (free > 0 && candidates.length > 0) {
    candidates = candidates.filter(({ subscriptionKey, merchant }) => {
      const ofSubscription = bySubscription.get(subscriptionKey) ?? 0;
      const ofMerchant = byMerchant.get(merchant) ?? 0;
      if (free === 0 || ofSubscription >= limits.perSubscription || ofMerchant >= limits.perMerchant) {
        return false;
      }
      bySubscription.set(subscriptionKey, ofSubscription + 1);
      byMerchant.set(merchant, ofMerchant + 1);
      dealt.set(subscriptionKey, (dealt.get(subscriptionKey) ?? 0) + 1);
      free -= 1;
      return true;
    });
  }
  return [...dealt].map(([subscriptionKey, limit]) => ({ subscriptionKey, limit }));
}

function sumBy(entries: readonly InHand[], keyOf: (entry: InHand) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const entry of entries) sums.set(keyOf(entry), (sums.get(keyOf(entry)) ?? 0) + entry.count);
  return sums;
}
