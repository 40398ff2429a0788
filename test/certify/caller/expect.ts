import { describeBelief, untilBelief } from "../beliefs.ts";
import type { CallerKit } from "./kit.ts";
import { fail, type Outcome } from "./outcome.ts";

/** Fails unless there is exactly one refund, of the right amount, and all requests had one requestKey. */
export function expectOneRefund(outcome: Outcome, because: string): void {
  const { order, refunds } = outcome;
  const [refund, ...others] = refunds;
  const isRight = refund && refund.amount === Number(order.amount) && others.length === 0;
  if (!isRight) fail(outcome, `exactly one refund of ${order.amount}, because ${because}`);
  const keys = new Set(outcome.requests.map(({ requestKey }) => requestKey));
  if (keys.size > 1) fail(outcome, "the same requestKey in each request for one refund");
}

/** Fails if the refund was requested more often than this. */
export function expectFew(outcome: Outcome, count: number, because: string): void {
  if (outcome.requests.length > count) fail(outcome, `at most ${count} requests, because ${because}`);
}

/** Fails unless the merchant's system comes to believe of a refund what the service says now. */
export async function expectAgreement(kit: CallerKit, outcome: Outcome): Promise<void> {
  const { order } = outcome;
  const { refunds } = await kit.look(order);
  const status = refunds[0]?.status;
  const belief = await untilBelief(kit.options, order, (one) => one.status === status);
  if (belief.status === status) return;
  // A system may well write down that no refund was made as a failure.
  if (status === undefined && belief.status === "TERMINAL_FAILED") return;
  const expected =
    status === undefined
      ? "believes in no refund, as there is none"
      : `believes ${status}, as the service does`;
  fail(outcome, `that your system ${expected}`, [describeBelief(belief)]);
}
