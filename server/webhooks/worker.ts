import type { Span } from "@opentelemetry/api";
import type { Logger } from "pino";
import { type AddToBatch, createBatcher, type OnRun } from "../async/batcher.ts";
import { endsSubscription } from "../domain/delivery-outcome.ts";
import { nextTimeouts, paceOf } from "../domain/fair-shares.ts";
import { traceIdOf } from "../domain/trace-context.ts";
import type { AttemptResult, EndedAttempt } from "../storage/statements/attempts.ts";
import type { Attempt } from "../storage/statements/claims.ts";
import type { BoundStorage } from "../storage/storage.ts";
import { END_BATCH_SIZE } from "../storage/webhooks/subscriptions.ts";
import { describeResult, inAttemptSpan } from "../tracing/attempt-span.ts";
import { type AttemptOptions, type AttemptsOf, type MadeAttempt, makeAttempt } from "./attempt.ts";
import { createConnections } from "./connections.ts";

export type WorkerParts = Omit<AttemptOptions, "signal" | "connections"> & {
  readonly store: Pick<
    BoundStorage,
    "batchKey" | "endSomeDeliveries" | "recordAttempts" | "recordPace" | "releaseClaim"
  >;
  readonly logger: Logger;
  /** Called with the number of results of each statement that records them. */
  readonly onRun?: OnRun | undefined;
  /** Called after each attempt whose result was recorded. */
  readonly onAttempt: (result: AttemptResult, attempt: Attempt) => void;
  /** Makes the attempts; without it, they are the usual ones. */
  readonly attempts?: AttemptsOf | undefined;
  /** Called after every attempt, when there is room for another delivery of its merchant. */
  readonly onRoom: (merchant: string) => void;
};

/** The most attempts in progress in one process, whatever the limits allow. */
const MAX_ATTEMPTS = 512;

/** Makes the attempts of claimed deliveries in this process, and records their results. */
export class Worker {
  readonly #parts: WorkerParts;
  readonly #connections = createConnections();
  readonly #running = new Set<Promise<void>>();
  /** When the attempts of each subscription that are under way were begun, the first one first, on the clock of `performance.now()`. */
  readonly #ofSubscription = new Map<string, number[]>();
  readonly #abandoned = new AbortController();
  /** Resolves with whether the result was recorded. */
  readonly #record: AddToBatch<EndedAttempt, boolean>;
  #stopping = false;
  #abandonTimer: NodeJS.Timeout | undefined;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    // Results that arrive while others are being written are written together, because the statement is most of the cost.
    const { store } = parts;
    const record = async (attempts: readonly EndedAttempt[]) => {
      const recorded = await store.recordAttempts(attempts);
      return attempts.map(({ webhookId }) => recorded.has(webhookId));
    };
    this.#record = createBatcher(record, {
      name: "record attempts",
      onRun: parts.onRun,
      keyOf: store.batchKey,
    });
  }

  /** How many more attempts may be under way. */
  room(): number {
    return this.#stopping ? 0 : Math.max(0, MAX_ATTEMPTS - this.#running.size);
  }

  /** How many attempts of a subscription are under way here. */
  underWay(subscriptionKey: string): number {
    return this.#ofSubscription.get(subscriptionKey)?.length ?? 0;
  }

  /** Milliseconds for which the oldest of these attempts has been under way; 0 when there is none. */
  longestMs(subscriptionKey: string): number {
    const [first] = this.#ofSubscription.get(subscriptionKey) ?? [];
    return first === undefined ? 0 : performance.now() - first;
  }

  /** Begins the attempts of claimed deliveries, or gives the claims back when this worker is stopping. */
  async begin(attempts: readonly Attempt[]): Promise<void> {
    if (this.#stopping) {
      await Promise.all(attempts.map((attempt) => this.#parts.store.releaseClaim(attempt)));
      return;
    }
    for (const attempt of attempts) this.#start(attempt);
  }

  /**
   * Begins no further attempt from now on, and gives the claims back.
   *
   * @param drainMs milliseconds after which the attempts under way are cut off
   */
  stop(drainMs: number): void {
    this.#stopping = true;
    this.#abandonTimer = setTimeout(() => this.#abandoned.abort(), drainMs);
  }

  /** Resolves when no attempt is under way and every connection is closed. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
    clearTimeout(this.#abandonTimer);
    await this.#connections.close();
  }

  #start(attempt: Attempt): void {
    const { subscriptionKey } = attempt;
    const begunAt = performance.now();
    const begun = this.#ofSubscription.get(subscriptionKey) ?? [];
    begun.push(begunAt);
    this.#ofSubscription.set(subscriptionKey, begun);
    const running: Promise<void> = this.#deliver(attempt).finally(() => {
      this.#running.delete(running);
      this.#end(subscriptionKey, begunAt);
    });
    this.#running.add(running);
  }

  #end(subscriptionKey: string, begunAt: number): void {
    const left = this.#ofSubscription.get(subscriptionKey) ?? [];
    left.splice(left.indexOf(begunAt), 1);
    if (left.length === 0) this.#ofSubscription.delete(subscriptionKey);
  }

  async #deliver(attempt: Attempt): Promise<void> {
    return inAttemptSpan(attempt, (span) => this.#attempt(attempt, span));
  }

  async #attempt(attempt: Attempt, span: Span | undefined): Promise<void> {
    const { store, realNow, logger, onAttempt, onRoom, attempts } = this.#parts;
    const { signal } = this.#abandoned;
    try {
      const make = attempts?.makeAttempt ?? makeAttempt;
      const result = await make(attempt, { ...this.#parts, connections: this.#connections, signal });
      if (span) describeResult(span, result);
      if (signal.aborted && result.status === null) await store.releaseClaim(attempt);
      else if (await this.#record({ ...attempt, ...result, endedAt: realNow() })) {
        onAttempt(result, attempt);
        attempts?.onRecorded(attempt);
        if (logger.isLevelEnabled("info")) logger.info(toLogged(attempt, result), "delivery");
        await this.#notePace(attempt, result);
        if (endsSubscription(result.outcome)) await this.#endWaiting(attempt);
      }
    } catch (error) {
      // The lease runs out, and the delivery is sent again: at least once, never lost.
      logger.error({ err: error, webhookId: attempt.webhookId }, "can't record a webhook attempt");
    }
    onRoom(attempt.merchant);
  }

  async #notePace({ merchant, subscriptionKey, timeouts }: Attempt, result: MadeAttempt): Promise<void> {
    const pace = paceOf(result);
    if (nextTimeouts(timeouts, pace) === timeouts) return;
    await this.#parts.store.recordPace({ merchant, subscriptionKey, pace });
  }

  /** Ends the deliveries that wait for a subscription which its receiver has ended. */
  async #endWaiting({ merchant, subscriptionKey }: Attempt): Promise<void> {
    const { store, logger } = this.#parts;
    const batch = { merchant, subscriptionKey, atMost: END_BATCH_SIZE };
    try {
      while ((await store.endSomeDeliveries(batch)) === END_BATCH_SIZE && !this.#stopping);
    } catch (error) {
      // The others are ended one by one, when they are due.
      logger.error(
        { err: error, subscriptionKey },
        "can't end the deliveries of a subscription that has ended",
      );
    }
  }
}

/** Only the host of the address: the rest may contain secrets. */
function toLogged(attempt: Attempt, result: AttemptResult) {
  const { webhookId, merchant, url, payload, earlierAttempts, trace } = attempt;
  const { status, error, milliseconds, outcome } = result;
  const event: unknown = JSON.parse(payload).type;
  return {
    webhookId,
    // That of the call, by which the lines about a refund are joined; the span of the attempt has the webhookId.
    ...(trace && { trace_id: traceIdOf(trace), span_id: undefined }),
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
