import type { components } from "../../openapi/generated/sandbox-types.ts";
import { parseRetryAfter, retryDelay } from "./retry-schedule.ts";

/**
 * Decides what an attempt means for its delivery (D23).
 * @param attempts attempts so far, this one included; from 1
 * @param random from 0 up to 1
 * @param realNow to read a `Retry-After` that is a date
 */
export function toOutcome(
  response: AttemptResponse,
  attempts: number,
  { random, realNow }: { random: number; realNow: Date },
): Outcome {
  if (response.success) return { kind: "delivered" };
  if (response.status === GONE) return { kind: "ended" };
  const afterMs = retryDelay(attempts, random, parseRetryAfter(response.retryAfter, realNow));
  return afterMs === undefined ? { kind: "exhausted" } : { kind: "retry", afterMs };
}

/** The state of a delivery. Only a `PENDING` one has an attempt due; a redelivery makes a finished one `PENDING` again. */
export type DeliveryState = components["schemas"]["DeliveryState"];

/** The status by which a receiver ends its subscription (D23). */
const GONE = 410;

/** The result of one attempt, as far as it decides what follows. */
export type AttemptResponse = {
  /** Null when there was no response. */
  readonly status: number | null;
  readonly success: boolean;
  readonly retryAfter: string | undefined;
};

/** The outcome of an attempt (D23): delivered, to be retried, the last one that failed, or refused permanently by a 410. */
export type Outcome =
  | { readonly kind: "delivered" }
  /** `afterMs`: milliseconds of domain time after the end of the attempt. */
  | { readonly kind: "retry"; readonly afterMs: number }
  | { readonly kind: "exhausted" }
  | { readonly kind: "ended" };

/** Whether the outcome of one delivery ends its whole subscription (D23, D26). */
export function endsSubscription({ kind }: Outcome): boolean {
  return kind === "ended";
}

/**
 * What else decides the next state of a delivery after its attempt, known only when the result is stored:
 *
 * - `redelivery`: during the attempt its merchant asked for it to be sent again.
 * - `subscription-ended`: its subscription has ended, and no redelivery was requested during the attempt.
 * - `only-once`: the attempt was a redelivery of one that was finished, so no retries follow.
 */
export const CIRCUMSTANCES = ["undisturbed", "redelivery", "subscription-ended", "only-once"] as const;
export type Circumstance = (typeof CIRCUMSTANCES)[number];

export type NextDelivery = {
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Whether the next attempt is the only one that follows, because no more of the schedule are left. */
  readonly onlyOnce: boolean;
  /** Milliseconds of domain time from the end of the attempt to the next one; null when none follows. */
  readonly dueAfterMs: number | null;
};

/**
 * The next state of a delivery. A redelivery sends once more and starts no new schedule: while retries are left, it
 * replaces the next one.
 * @param attempts attempts so far, this one included
 */
export function nextDelivery(outcome: Outcome, attempts: number, circumstance: Circumstance): NextDelivery {
  // A redelivery is sent regardless of earlier results, except to a receiver that has just refused all further deliveries.
  if (circumstance === "redelivery" && outcome.kind !== "ended")
    return { state: "PENDING", attempts, onlyOnce: outcome.kind !== "retry", dueAfterMs: 0 };
  const finished = { attempts, onlyOnce: false, dueAfterMs: null };
  if (outcome.kind === "delivered") return { state: "DELIVERED", ...finished };
  if (outcome.kind === "ended" || circumstance === "subscription-ended")
    return { state: "ENDED", ...finished };
  if (outcome.kind === "exhausted" || circumstance === "only-once")
    return { state: "EXHAUSTED", ...finished };
  return { state: "PENDING", attempts, onlyOnce: false, dueAfterMs: outcome.afterMs };
}
