/**
 * The fair share of each subscription: how many of its deliveries to claim. They are dealt out one by one, to one merchant
 * after the other, until none may have more. Of the subscriptions of a merchant those with the fewest timeouts come first,
 * then those that were given first.
 * @param mostHere how many deliveries may be in progress at this server, whatever the limits allow
 */
export function shareFairly(
  due: readonly ShareHolder[],
  inProgress: readonly InProgressHere[],
  limits: Limits,
  mostHere = Number.POSITIVE_INFINITY,
): ClaimLimit[] {
  const counts = new DeliveryCounts(limits, mostHere);
  for (const { count, here, ...holder } of inProgress) counts.add(holder, count, here);
  const shares = new Map<ShareHolder, number>();
  const sorted = due.toSorted((a, b) => (a.timeouts ?? 0) - (b.timeouts ?? 0));
  let lists = [...Map.groupBy(sorted, ({ merchant }) => merchant).values()];
  while (lists.length > 0) {
    lists = lists.filter((list) => {
      // A subscription that can't get one more delivery now can't get one later in this loop either, because nothing is
      // freed meanwhile.
      while (list[0] && !counts.hasRoom(list[0])) list.shift();
      const holder = list.shift();
      if (!holder) return false;
      counts.add(holder, 1, 1);
      shares.set(holder, (shares.get(holder) ?? 0) + 1);
      list.push(holder);
      return true;
    });
  }
  return [...shares].map(([{ subscriptionKey, merchant }, limit]) => ({ subscriptionKey, merchant, limit }));
}

/** How many deliveries may be in progress at once: claimed by a server, and perhaps under way. */
export type Limits = {
  /** At one server, so that more servers deliver more. */
  readonly total: number;
  /** Of these, for subscriptions whose receivers have not responded quickly lately. The others are kept for those that have. */
  readonly unproven: number;
  /** At most this many of one merchant at one server: the merchant may have subscribed one dead endpoint a hundred times. */
  readonly perMerchant: number;
  /**
   * At most this many of one subscription at all servers together, because they go to the same receiver. Servers that claim at
   * the same moment don't see what the others take, and can exceed it until those attempts have ended.
   */
  readonly perSubscription: number;
};

/** A subscription, as far as it decides how many of its deliveries may be in progress. */
export type ShareHolder = {
  readonly subscriptionKey: string;
  readonly merchant: string;
  /** Timeouts in a row, at most `MAX_TIMEOUTS`; 1 also after a slow response; null before the first attempt has ended. */
  readonly timeouts: number | null;
};

/** The deliveries in progress for a subscription, at all servers together. */
export type InProgress = ShareHolder & { readonly count: number };

/** The same, and how many of them are in progress at this server. */
export type InProgressHere = InProgress & { readonly here: number };

/** How a receiver responded: a slow response has held its slot for long. */
export type Pace = "quick" | "slow" | "silent";

/** A response that takes longer, in milliseconds, is slow, and its attempt counts as slow before it has come. */
export const SLOW_MS = 2_000;

export function paceOf({ timedOut, milliseconds }: { timedOut: boolean; milliseconds: number }): Pace {
  if (timedOut) return "silent";
  return milliseconds > SLOW_MS ? "slow" : "quick";
}

export type ClaimLimit = {
  readonly subscriptionKey: string;
  readonly merchant: string;
  readonly limit: number;
};

/** After this many timeouts in a row, one delivery at a time probes whether the receiver responds again. More are not counted. */
export const MAX_TIMEOUTS = 3;

/** The most deliveries in progress for a subscription that has not had a response yet, or whose latest attempt timed out or was slow. */
const ON_TRIAL = 4;

/** The part of the unproven deliveries that those with slow and silent receivers may have; the rest is kept for new ones. */
const PART_OF_UNPROVEN = 3 / 4;

/**
 * The most that a merchant may have in progress, as a part of what then stays free for others: a merchant alone gets a quarter of
 * all, and each of twenty gets a twenty-third.
 */
const PART_OF_FREE = 1 / 3;

export function nextTimeouts(timeouts: number | null, pace: Pace): number {
  if (pace === "silent") return Math.min((timeouts ?? 0) + 1, MAX_TIMEOUTS);
  return pace === "slow" ? 1 : 0;
}

/** How many deliveries of a subscription may be in progress: fewer until its receiver has responded quickly. */
export function slotsOf(timeouts: number | null, { perSubscription }: Limits): number {
  if (timeouts === 0) return perSubscription;
  return Math.min(perSubscription, timeouts !== null && timeouts >= MAX_TIMEOUTS ? 1 : ON_TRIAL);
}

class DeliveryCounts {
  readonly #limits: Limits;
  readonly #mostHere: number;
  readonly #byKey = new Map<string, number>();

  constructor(limits: Limits, mostHere: number) {
    this.#limits = limits;
    this.#mostHere = mostHere;
  }

  add(holder: ShareHolder, everywhere: number, here: number): void {
    this.#add(holder.subscriptionKey, everywhere);
    for (const key of keysOf(holder)) this.#add(key, here);
  }

  #add(key: string, count: number): void {
    this.#byKey.set(key, this.#count(key) + count);
  }

  hasRoom(holder: ShareHolder): boolean {
    const { unproven, perMerchant } = this.#limits;
    const ofMerchant = this.#count(merchantKey(holder));
    if (this.#count(holder.subscriptionKey) >= slotsOf(holder.timeouts, this.#limits)) return false;
    if (ofMerchant >= perMerchant || !isPart(ofMerchant, this.#free())) return false;
    if (holder.timeouts === 0) return true;
    if (isSlow(holder) && this.#count(SLOW) >= unproven * PART_OF_UNPROVEN) return false;
    return isPart(this.#count(merchantKey(holder, UNPROVEN)), unproven - this.#count(UNPROVEN));
  }

  /** Receivers that have become slow together hold more than their part; this must not take the part of the others. */
  #free(): number {
    const { total, unproven } = this.#limits;
    const tooMany = Math.max(0, this.#count(UNPROVEN) - unproven);
    return Math.min(total + tooMany, this.#mostHere) - this.#count(ALL);
  }

  #count(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }
}

function isPart(own: number, free: number): boolean {
  return free > 0 && own < Math.max(1, free * PART_OF_FREE);
}

const ALL = "all";
const UNPROVEN = "unproven";
const SLOW = "slow";

function isSlow({ timeouts }: ShareHolder): boolean {
  return timeouts !== null && timeouts > 0;
}

/** The counters of this server that a delivery of a subscription adds to. */
function keysOf(holder: ShareHolder): string[] {
  const ofAll = [merchantKey(holder), ALL];
  if (holder.timeouts === 0) return ofAll;
  const unproven = [...ofAll, merchantKey(holder, UNPROVEN), UNPROVEN];
  return isSlow(holder) ? [...unproven, SLOW] : unproven;
}

function merchantKey({ merchant }: ShareHolder, of = ALL): string {
  return `${of} of ${merchant}`;
}
