import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import { singleFlight } from "../async/repeat.ts";
import {
  type InProgress,
  type InProgressHere,
  type Limits,
  SLOW_MS,
  shareFairly,
} from "../domain/delivery-fairness.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import type { Store } from "../storage/open-store.ts";
import type { Shares, Waiting } from "../storage/webhooks/claim-deliveries.ts";
import { END_BATCH_SIZE } from "../storage/webhooks/subscriptions.ts";
import type { Worker } from "./delivery-worker.ts";

/** Claims due deliveries, as many as the limits allow and this process has room for, and begins their attempts. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #run = singleFlight(() => this.#claimDue());
  /** Merchants whose due deliveries the next statement looks for. */
  #woken = new Set<string>();
  /** Merchants whose due deliveries have perhaps not all been claimed. */
  readonly #withMore = new Set<string>();
  /** Wakes since the last run began. */
  #wakes = 0;
  /** Whether the next run looks at all subscriptions. */
  #all = false;
  #timer: NodeJS.Timeout | undefined;
  /** Whether a run that `wake` has started is under way. */
  #awake = false;
  /** When `wake` may start the next run, on the clock of `performance.now()`. */
  #pausedUntilMs = 0;
  #stopped = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Claims what is due at the time of the call; resolves when its attempts have begun. */
  dispatch(): Promise<void> {
    this.#all = true;
    return this.#run();
  }

  /**
   * Starts a run soon: at once after a pause or after many wakes, otherwise together with the wakes that follow. A pause is as
   * long as the run before it, at most.
   * @param merchant whose deliveries may have come due, or may be claimed again; without it, all merchants'
   */
  wake(merchant?: string): void {
    // The poll, a second later, finds what a paced merchant has.
    if (merchant !== undefined && this.#parts.worker.roomOf(merchant) === 0) return;
    if (merchant === undefined) this.#all = true;
    else this.#woken.add(merchant);
    this.#wakes += 1;
    this.#schedule();
  }

  /**
   * Starts a run when there is room for another delivery of a merchant, and more of its deliveries wait. A merchant without more isn't
   * looked at: what becomes due later is announced, or found by the poll.
   */
  noteRoom(merchant: string): void {
    if (this.#withMore.has(merchant)) this.wake(merchant);
  }

  #schedule(): void {
    if (this.#stopped || this.#awake) return;
    const waitMs = this.#pausedUntilMs - performance.now();
    if (waitMs <= 0 || this.#wakes >= WAKES_WITHOUT_PAUSE) this.#runAwake();
    else this.#timer ??= setTimeout(() => this.#runAwake(), waitMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Resolves when the run under way has ended. */
  async whenIdle(): Promise<void> {
    await this.#run();
  }

  #runAwake(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#awake = true;
    this.#wakes = 0;
    const startedMs = performance.now();
    const pause = () => {
      const endedMs = performance.now();
      this.#pausedUntilMs = endedMs + Math.min(endedMs - startedMs, MAX_PAUSE_MS);
      this.#awake = false;
    };
    this.#run().then(
      () => {
        pause();
        if (this.#all || this.#woken.size > 0) this.#schedule();
      },
      (error: unknown) => {
        pause();
        // The poll tries again.
        this.#parts.logger.error({ err: error }, "can't dispatch webhooks");
      },
    );
  }

  async #claimDue(): Promise<void> {
    if (this.#stopped) return;
    const { store, clock, random } = this.#parts;
    if (clock.isWrong()) {
      // The poll looks for all of them once the clock is right.
      this.#woken.clear();
      this.#all = false;
      return;
    }
    await this.#claimWoken();
    if (!this.#all) return;
    this.#all = false;
    const now = await clock.now();
    for (let after = ""; !this.#stopped; ) {
      const page = await store.listWaiting({ now, after, limit: PAGE_SIZE });
      await this.#endWaiting(page);
      const due = page.filter((waiting) => waiting.due);
      await this.#claim({ due: shuffle(due, random), now });
      after = page.at(-1)?.subscriptionKey ?? "";
      if (page.length < PAGE_SIZE) return;
      // The embedded store works in this thread: without a turn of the event loop, calls would wait for all pages.
      await setImmediate();
      // A merchant with a new delivery does not wait until the subscriptions of all others have been examined.
      await this.#claimWoken();
    }
  }

  async #claimWoken(): Promise<void> {
    if (this.#woken.size === 0) return;
    const merchants = [...this.#woken];
    this.#woken.clear();
    const { store, clock, worker } = this.#parts;
    const request = { merchants, realNow: clock.realNow(), ended: worker.accepted() };
    const shares = await store.readShares(request);
    for (const merchant of merchants) this.#withMore.delete(merchant);
    await this.#claim(shares);
  }

  async #claim({ due: all, now }: Shares): Promise<void> {
    const { store, worker, limits, leaseMs } = this.#parts;
    const rooms = new Map(all.map(({ merchant }) => [merchant, worker.roomOf(merchant)]));
    const due = all.filter(({ merchant }) => rooms.get(merchant) !== 0);
    if (due.length === 0) return;
    const inProgress = this.#inProgress(due);
    const mostHere = inProgress.reduce((total, { here }) => total + here, worker.room());
    const shares = shareFairly(inProgress.slice(0, due.length), inProgress, limits, mostHere);
    const claimLimits = shares.flatMap((share) => {
      const room = rooms.get(share.merchant) ?? 0;
      const limit = Math.min(share.limit, room);
      rooms.set(share.merchant, room - limit);
      return limit > 0 ? [{ ...share, limit }] : [];
    });
    const left = new Map(due.map(({ subscriptionKey }) => [subscriptionKey, 0]));
    for (const { subscriptionKey, limit } of claimLimits) left.set(subscriptionKey, limit);
    if (claimLimits.length > 0) {
      // Measured before the statement, so that this end is never later than the database's.
      const leaseEndsMs = performance.now() + leaseMs;
      const attempts = await store.claimDeliveries({ claimLimits, now, leaseMs });
      for (const { subscriptionKey } of attempts)
        left.set(subscriptionKey, (left.get(subscriptionKey) ?? 0) - 1);
      await worker.begin(attempts, leaseEndsMs);
    }
    for (const { subscriptionKey, merchant } of due) {
      if (left.get(subscriptionKey) === 0) this.#withMore.add(merchant);
    }
  }

  /** The deliveries in progress: those of the due subscriptions, in their order, then those of others with attempts here. */
  #inProgress(due: readonly InProgress[]): InProgressHere[] {
    const underWay = new Map(this.#parts.worker.underWay().map((one) => [one.subscriptionKey, one]));
    const now = performance.now();
    const all = [...due, ...[...underWay.values()].map((one) => ({ ...one, count: one.begunAt.length }))];
    const byKey = new Map<string, InProgressHere>();
    for (const { subscriptionKey, merchant, timeouts, count } of all) {
      if (byKey.has(subscriptionKey)) continue;
      const { begunAt = [] } = underWay.get(subscriptionKey) ?? {};
      // A receiver counts as slow while it lets an attempt wait, not only after the attempt has ended.
      const slow = now - (begunAt[0] ?? now) > SLOW_MS;
      byKey.set(subscriptionKey, {
        ...{ subscriptionKey, merchant, here: begunAt.length },
        timeouts: slow ? Math.max(1, timeouts ?? 0) : timeouts,
        count: Math.max(count, begunAt.length),
      });
    }
    return [...byKey.values()];
  }

  /** For each subscription that has ended, ends a batch of its waiting deliveries; the rest follows in the next run. */
  async #endWaiting(page: readonly Waiting[]): Promise<void> {
    for (const { merchant, subscriptionKey } of page.filter(({ ended }) => ended)) {
      const batch = { merchant, subscriptionKey, atMost: END_BATCH_SIZE };
      if ((await this.#parts.store.endSomeDeliveries(batch)) === END_BATCH_SIZE) this.wake();
    }
  }
}

type DispatcherParts = {
  readonly store: Pick<Store, "claimDeliveries" | "endSomeDeliveries" | "listWaiting" | "readShares">;
  readonly clock: DomainClock;
  readonly worker: Pick<Worker, "accepted" | "begin" | "room" | "roomOf" | "underWay">;
  readonly limits: Limits;
  readonly leaseMs: number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly logger: Logger;
};

/** The longest pause between two runs that `wake` starts, in milliseconds. Calls of `wake` within it share a run. */
const MAX_PAUSE_MS = 100;

/** After this many wakes there is no pause. A smaller number would make the embedded store claim too often. */
const WAKES_WITHOUT_PAUSE = 32;

/** Subscriptions that one statement examines: it takes milliseconds, in which the embedded store does nothing else. */
const PAGE_SIZE = 200;

function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  const drawn = items.map((item) => ({ item, number: random() }));
  return drawn.toSorted((a, b) => a.number - b.number).map(({ item }) => item);
}
