import { setImmediate } from "node:timers/promises";
import type { Logger } from "pino";
import { nextTimeouts, paceOf, type ShareHolder } from "../domain/delivery-fairness.ts";
import { traceIdOf } from "../domain/trace-context.ts";
import type { Store } from "../storage/open-store.ts";
import type { Attempt } from "../storage/webhooks/claim-deliveries.ts";
import type { AttemptResult } from "../storage/webhooks/record-attempts.ts";
import type { EncryptionKeys } from "../storage/webhooks/secret-encryption.ts";
import { type AttemptOptions, type AttemptsOf, type MadeAttempt, makeAttempt } from "./delivery-attempt.ts";
import { createConnections } from "./receiver-connections.ts";
import { readSecrets } from "./sign-delivery.ts";

/** Makes the attempts of claimed deliveries in this process, and records their results. */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #connections = createConnections();
  readonly #running = new Set<Promise<void>>();
  /** By the keys of the subscriptions. */
  readonly #underWay = new Map<string, { merchant: string; timeouts: number | null; begunAt: number[] }>();
  /** The webhookIds of deliveries that their receivers have accepted, and that are being recorded. */
  readonly #accepted = new Set<string>();
  readonly #abandoned = new AbortController();
  /** Failed attempts by merchant: in this second, and in the one before. */
  #failures = { second: 0, of: new Map<string, number>(), before: new Map<string, number>() };
  /** For each merchant, the turn of the event loop that its next attempts wait for, and how many begin in it so far. */
  readonly #turns = new Map<string, { turn: Promise<void>; begun: number }>();
  #stopping = false;
  #abandonTimer: NodeJS.Timeout | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  /** How many more attempts may be under way. */
  room(): number {
    return Math.max(0, MAX_ATTEMPTS - this.#running.size);
  }

  /** How many more attempts of a merchant may begin in this second. */
  roomOf(merchant: string): number {
    const second = Math.floor(performance.now() / 1_000);
    const { of, second: last } = this.#failures;
    if (second !== last)
      this.#failures = { second, of: new Map(), before: second === last + 1 ? of : new Map() };
    const { of: failures, before } = this.#failures;
    const left = FAILURES_PER_SECOND - (failures.get(merchant) ?? 0);
    if ((before.get(merchant) ?? 0) < FAILURES_PER_SECOND / 2) return left > 0 ? MAX_ATTEMPTS : 0;
    // Half of the limit failed in the second before, so those that have just begun may fail, too.
    const begun = this.underWay().filter((one) => one.merchant === merchant);
    const since = second * 1_000;
    return Math.max(0, left - begun.flatMap(({ begunAt }) => begunAt).filter((at) => at >= since).length);
  }

  underWay(): UnderWay[] {
    return [...this.#underWay].map(([subscriptionKey, underWay]) => ({ subscriptionKey, ...underWay }));
  }

  accepted(): string[] {
    return [...this.#accepted];
  }

  /**
   * Begins the attempts of claimed deliveries, or gives the claims back when this worker is stopping.
   * @param leaseEndsMs when the claims end, on the clock of `performance.now()`
   */
  async begin(attempts: readonly Attempt[], leaseEndsMs: number): Promise<void> {
    if (this.#stopping) {
      await Promise.all(attempts.map((attempt) => this.#parts.store.releaseClaim(attempt)));
      return;
    }
    const secretsOf = new Map<string, SecretKeys>();
    for (const attempt of attempts) {
      const { subscriptionKey } = attempt;
      const secretKeys = secretsOf.get(subscriptionKey) ?? readSecrets(attempt, this.#parts.encryptionKeys);
      secretsOf.set(subscriptionKey, secretKeys);
      this.#start(attempt, secretKeys, leaseEndsMs);
    }
  }

  /**
   * Begins no further attempt from now on, and gives the claims back.
   * @param drainMs milliseconds after which the attempts under way are cut off
   */
  stop(drainMs: number): void {
    this.#stopping = true;
    this.#abandonTimer = setTimeout(() => this.#abandoned.abort(), drainMs);
  }

  /** Resolves when no attempt is under way and every connection is closed. */
  async whenIdle(): Promise<void> {
    await Promise.all(this.#running);
    clearTimeout(this.#abandonTimer);
    await this.#connections.close();
  }

  #start(attempt: Attempt, secretKeys: SecretKeys, leaseEndsMs: number): void {
    const { subscriptionKey, merchant, timeouts } = attempt;
    const startedAt = performance.now();
    const begunAt = this.#underWay.get(subscriptionKey)?.begunAt ?? [];
    begunAt.push(startedAt);
    this.#underWay.set(subscriptionKey, { merchant, timeouts, begunAt });
    let ended = false; // an accepted attempt ends before it is recorded, and must not be counted again after that
    const end = () => {
      if (ended) return;
      ended = true;
      begunAt.splice(begunAt.indexOf(startedAt), 1);
      if (begunAt.length === 0) this.#underWay.delete(subscriptionKey);
    };
    const running: Promise<void> = this.#attempt(attempt, secretKeys, leaseEndsMs, end).finally(() => {
      this.#running.delete(running);
      end();
    });
    this.#running.add(running);
  }

  /** @param end says that the attempt is not under way any more */
  async #attempt(attempt: Attempt, secrets: SecretKeys, leaseEndsMs: number, end: () => void): Promise<void> {
    const { store, realNow, timeoutMs, logger } = this.#parts;
    const { onAttempt, onAccepted, onRoom, attempts } = this.#parts;
    const { signal } = this.#abandoned;
    try {
      await this.#turnOf(attempt.merchant);
      const make = attempts?.makeAttempt ?? makeAttempt;
      const secretKeys = await secrets;
      // The lease must not end before the attempt does, because another server would then send the delivery, too.
      const inTime = !signal.aborted && performance.now() + timeoutMs <= leaseEndsMs;
      const result = inTime
        ? await make(attempt, { ...this.#parts, secretKeys, connections: this.#connections, signal })
        : undefined;
      const failures = this.#failures.of;
      if (result?.error) failures.set(attempt.merchant, (failures.get(attempt.merchant) ?? 0) + 1);
      if (result?.error === null && paceOf(result) === "quick") {
        // The receiver may get the next delivery while this result is recorded. After any other result, the recorded state decides.
        end();
        this.#accepted.add(attempt.webhookId);
        onAccepted(attempt.merchant);
      }
      if (!result || (signal.aborted && result.status === null)) await store.releaseClaim(attempt);
      else if (await store.recordAttempt({ ...attempt, ...result, endedAt: realNow() })) {
        onAttempt(result, attempt);
        if (logger.isLevelEnabled("info")) logger.info(toLogged(attempt, result), "delivery");
        await this.#notePace(attempt, result);
      }
    } catch (error) {
      // The lease expires, and the delivery is sent again: twice, but never lost.
      logger.error({ err: error, webhookId: attempt.webhookId }, "can't record a webhook attempt");
    }
    onRoom(attempt.merchant, this.#accepted.delete(attempt.webhookId));
  }

  /** Resolves in the turn of the event loop in which the next attempt of a merchant begins. */
  #turnOf(merchant: string): Promise<void> {
    const last = this.#turns.get(merchant);
    if (last && last.begun < this.#parts.attemptsPerTurn()) {
      last.begun += 1;
      return last.turn;
    }
    const turn = (last?.turn ?? Promise.resolve()).then(() => setImmediate());
    this.#turns.set(merchant, { turn, begun: 1 });
    return turn.then(() => {
      if (this.#turns.get(merchant)?.turn === turn) this.#turns.delete(merchant);
    });
  }

  async #notePace({ merchant, subscriptionKey, timeouts }: Attempt, result: MadeAttempt): Promise<void> {
    const pace = paceOf(result);
    const underWay = this.#underWay.get(subscriptionKey);
    // What an attempt of the same subscription has just recorded isn't recorded again by those that were claimed with it.
    const known = underWay ? underWay.timeouts : timeouts;
    const next = nextTimeouts(known, pace);
    if (next === known) return;
    if (underWay) underWay.timeouts = next;
    await this.#parts.store.recordPace({ merchant, subscriptionKey, pace });
  }
}

export type WorkerParts = Omit<AttemptOptions, "signal" | "connections" | "secretKeys"> & {
  readonly encryptionKeys: EncryptionKeys;
  readonly store: Pick<Store, "recordAttempt" | "recordPace" | "releaseClaim">;
  readonly logger: Logger;
  /** At most this many attempts of a merchant begin in a turn of the event loop, so that incoming calls aren't delayed. */
  readonly attemptsPerTurn: () => number;
  /** Called after each attempt whose result was recorded. */
  readonly onAttempt: (result: AttemptResult, attempt: Attempt) => void;
  /** Makes attempts instead of the usual ones, as a sandbox does. */
  readonly attempts?: AttemptsOf | undefined;
  /** Called when a receiver has accepted a delivery, before the result is recorded. */
  readonly onAccepted: (merchant: string) => void;
  /** Called when an attempt is over and recorded, so that there is room for another; `accepted`: `onAccepted` was called before. */
  readonly onRoom: (merchant: string, accepted: boolean) => void;
};

export type UnderWay = ShareHolder & {
  /** When each of them was begun, the first one first, on the clock of `performance.now()`. */
  readonly begunAt: readonly number[];
};

type SecretKeys = ReturnType<typeof readSecrets>;

/** The most attempts in progress in one process, whatever the limits allow. */
const MAX_ATTEMPTS = 512;

/** A merchant whose attempts fail this often in a second gets no more until the next: each failure costs others processor time. */
const FAILURES_PER_SECOND = 50;

/** Only the host of the address: the rest may contain secrets. */
function toLogged(attempt: Attempt, result: AttemptResult) {
  const { webhookId, merchant, url, payload, earlierAttempts, trace } = attempt;
  const { status, error, milliseconds, outcome } = result;
  const event: unknown = JSON.parse(payload).type;
  return {
    webhookId,
    ...(trace && { trace_id: traceIdOf(trace) }),
    merchant,
    event,
    host: URL.parse(url)?.host,
    attempt: earlierAttempts + 1,
    status,
    error,
    outcome: outcome.kind,
    milliseconds,
  };
}
