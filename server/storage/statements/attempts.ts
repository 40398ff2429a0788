import {
  CIRCUMSTANCES,
  type Circumstance,
  endsSubscription,
  type NextDelivery,
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
export function toResultRow(attempt: EndedAttempt) {
  const nextIn = (circumstance: Circumstance) => [circumstance, nextOf(attempt, circumstance)];
  return { ...toRow(attempt), next: Object.fromEntries(CIRCUMSTANCES.map(nextIn)) };
}

/**
 * The same for many attempts. Most have the same next states, so these are lists, and each row says where its own begin: one for
 * each of `CIRCUMSTANCES`, in their order.
 */
export function toResults(attempts: readonly EndedAttempt[]) {
  const begins = new Map<string, number>();
  const states: NextDelivery[] = [];
  const rows = attempts.map((attempt) => {
    const { outcome } = attempt;
    const key = outcome.kind === "retry" ? `${outcome.afterMs}` : outcome.kind;
    const next = begins.get(key) ?? states.length;
    if (next === states.length) states.push(...CIRCUMSTANCES.map((one) => nextOf(attempt, one)));
    begins.set(key, next);
    return { ...toRow(attempt), attempts: attempt.earlierAttempts + 1, next };
  });
  return { rows, states };
}

const nextOf = ({ outcome, earlierAttempts }: EndedAttempt, circumstance: Circumstance): NextDelivery =>
  nextDelivery(outcome, earlierAttempts + 1, circumstance);

function toRow(attempt: EndedAttempt) {
  return {
    webhook_id: attempt.webhookId,
    merchant: attempt.merchant,
    fence: attempt.fence,
    ends_subscription: endsSubscription(attempt.outcome),
    ended_at: attempt.endedAt,
    at: attempt.at,
    status: attempt.status,
    error: attempt.error,
    milliseconds: attempt.milliseconds,
    response: attempt.bodyStart,
  };
}
