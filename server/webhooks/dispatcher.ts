import type { Logger } from "pino";
import { singleFlight } from "../async/repeat.ts";
import type { DomainClock } from "../domain/clock.ts";
import {
  type InHand,
  type InHandHere,
  type Limits,
  type ShareHolder,
  SLOW_MS,
  shareFairly,
} from "../domain/fair-shares.ts";
import type { Attempt, Shares, Waiting } from "../storage/statements/claims.ts";
import { toBatches } from "../storage/statements/statements.ts";
import type { BoundStorage } from "../storage/storage.ts";
import { END_BATCH_SIZE } from "../storage/webhooks/subscriptions.ts";

/** What makes the attempts. */
export type DispatchedWorker = {
  /** How many more attempts may be under way in this process. */
  room(): number;
  /** How many attempts of a subscription are under way in this process. */
  underWay(subscriptionKey: string): number;
  /** Milliseconds for which the oldest of these has been under way; 0 when there is none. */
  longestMs(subscriptionKey: string): number;
  /** Begins attempts; resolves without waiting for them to end. */
  begin(attempts: readonly Attempt[]): Promise<void>;
};

export type DispatcherParts = {
  readonly store: Pick<
    BoundStorage,
    "batchKey" | "claimDeliveries" | "countInHand" | "endSomeDeliveries" | "listWaiting" | "readShares"
  >;
  readonly clock: DomainClock;
  readonly worker: DispatchedWorker;
  readonly limits: Limits;
  readonly leaseMs: number;
  readonly logger: Logger;
};

/** The longest pause between two runs that `wake` starts, in milliseconds, so that wakes in quick succession share a run. */
const MAX_PAUSE_MS = 10;

/**
 * After this many wakes there is no pause, because there is room for as many deliveries. A smaller number would make the
 * embedded store claim too often.
 */
const WAKES_WITHOUT_PAUSE = 32;

/**
 * Subscriptions that one statement examines: it takes some milliseconds, during which the embedded store does nothing else.
 */
const PAGE_SIZE = 200;

/** Claims due deliveries, as many as may be in progress and as this process has room for, and has their attempts begun. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #run = singleFlight(() => this.#claimDue());
  /** Merchants whose due deliveries the next statement looks for. */
  #woken = new Set<string>();
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
   *
   * @param merchant whose deliveries may have come due, or may be claimed again; without it, all merchants'
   */
  wake(merchant?: string): void {
    if (merchant === undefined) this.#all = true;
    else this.#woken.add(merchant);
    this.#wakes += 1;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#stopped || this.#awake) return;
    const waitMs = this.#pausedUntilMs - performance.now();
    if (waitMs <= 0 || this.#wakes >= WAKES_WITHOUT_PAUSE) this.#runAwake();
    else this.#timer ??= setTimeout(() => this.#runAwake(), waitMs);
  }

  /** Claims nothing more from now on. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Resolves when the run under way has ended. */
  async ended(): Promise<void> {
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
    const { store, clock, limits } = this.#parts;
    if (clock.isOff()) {
      // The poll looks for all of them once the clock is right.
      this.#woken.clear();
      this.#all = false;
      return;
    }
    await this.#claimWoken();
    if (!this.#all) return;
    this.#all = false;
    const now = await clock.now();
    let inHand = await store.countInHand();
    for (let after = ""; !this.#stopped; ) {
      const page = await store.listWaiting({ now, after, limit: PAGE_SIZE });
      await this.#endWaiting(page);
      const due = page.filter((waiting) => waiting.due);
      // With many subscriptions of silent receivers, most pages contain none that may have another delivery in progress.
      if (shareFairly(this.#asHeld(due), this.#here(inHand), limits).length > 0) {
        await this.#claim({ due, inHand: await store.countInHand(), now });
        inHand = await store.countInHand();
      }
      after = page.at(-1)?.subscriptionKey ?? "";
      if (page.length < PAGE_SIZE) return;
      // A merchant with a new delivery does not wait until the subscriptions of all others have been examined.
      await this.#claimWoken();
    }
  }

  async #claimWoken(): Promise<void> {
    if (this.#woken.size === 0) return;
    const merchants = [...this.#woken];
    this.#woken.clear();
    const { store, clock } = this.#parts;
    await this.#claim(await store.readShares({ merchants, realNow: clock.realNow() }));
  }

  async #claim({ due, inHand, now }: Shares): Promise<void> {
    const { store, worker, limits, leaseMs } = this.#parts;
    const hand = this.#here(inHand);
    const mostHere = hand.reduce((total, { here }) => total + here, worker.room());
    const claimLimits = shareFairly(this.#asHeld(due), hand, limits, mostHere);
    if (claimLimits.length === 0) return;
    const claims = toBatches(claimLimits, store.batchKey).map(async (some) =>
      worker.begin(await store.claimDeliveries({ claimLimits: some, now, leaseMs })),
    );
    await Promise.allSettled(claims); // where one fails, the others have begun all the same
    await Promise.all(claims);
  }

  #here(inHand: readonly InHand[]): InHandHere[] {
    const { worker } = this.#parts;
    return this.#asHeld(inHand).map((hand) => ({ ...hand, here: worker.underWay(hand.subscriptionKey) }));
  }

  /** A receiver that lets an attempt wait is slow already, not only when the attempt has ended. */
  #asHeld<Holder extends ShareHolder>(holders: readonly Holder[]): Holder[] {
    const { worker } = this.#parts;
    return holders.map((holder) =>
      worker.longestMs(holder.subscriptionKey) > SLOW_MS
        ? { ...holder, timeouts: Math.max(1, holder.timeouts ?? 0) }
        : holder,
    );
  }

  /** For each subscription that has ended, ends a batch of its waiting deliveries; the rest follows in the next run. */
  async #endWaiting(page: readonly Waiting[]): Promise<void> {
    for (const { merchant, subscriptionKey } of page.filter(({ ended }) => ended)) {
      const batch = { merchant, subscriptionKey, atMost: END_BATCH_SIZE };
      if ((await this.#parts.store.endSomeDeliveries(batch)) === END_BATCH_SIZE) this.wake();
    }
  }
}
