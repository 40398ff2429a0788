import {
  CIRCUMSTANCES,
  type Circumstance,
  endsSubscription,
  nextDelivery,
  type Outcome,
} from "../../domain/delivery-outcome.ts";
import type { Attempt, Claim } from "./claims.ts";

export type AttemptResult = {
  /** Real time at which the attempt began. */
  readonly at: Date;
  /** Null when there was no response. */
  readonly status: number | null;
  /** Null only for success. */
  readonly error: string | null;
  readonly milliseconds: number;
  /** The first 1,024 bytes of the response's body. */
  readonly bodyStart: string | null;
  readonly outcome: Outcome;
};

/** An attempt with its result. The next attempt is due some time after the end of this one, in domain time (D23, D30). */
export type EndedAttempt = Claim &
  Pick<Attempt, "earlierAttempts"> &
  AttemptResult & {
    /** Real time. */
    readonly endedAt: Date;
  };

/**
 * The result of an attempt as `json_to_recordset` reads it. What happened to the delivery during its attempt is known only to
 * the statement, so it gets the next state for every circumstance, and stores the one that applies.
 */
export function toResultRow({ earlierAttempts, outcome, ...attempt }: EndedAttempt) {
  const nextIn = (circumstance: Circumstance) => nextDelivery(outcome, earlierAttempts + 1, circumstance);
  return {
    webhook_id: attempt.webhookId,
    merchant: attempt.merchant,
    fence: attempt.fence,
    next: Object.fromEntries(CIRCUMSTANCES.map((circumstance) => [circumstance, nextIn(circumstance)])),
    ends_subscription: endsSubscription(outcome),
    ended_at: attempt.endedAt,
    at: attempt.at,
    status: attempt.status,
    error: attempt.error,
    milliseconds: attempt.milliseconds,
    response: attempt.bodyStart,
  };
}
