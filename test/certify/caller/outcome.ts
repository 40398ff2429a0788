import type { Result as SandboxResult } from "../../../server/sandbox/index.ts";
import { CheckFailure } from "../../reporting/exchange.ts";

/** A refund that the merchant's system is to issue. */
export type Order = {
  readonly paymentId: string;
  /** In dollars, such as `19.99`. */
  readonly amount: string;
  readonly reference: string;
};

/** The outcome of an order: the requests for it, the refunds that were made, and what the command that had to issue it printed. */
export type Outcome = {
  readonly order: Order;
  /** In the order of their arrival, by milliseconds since the first; without a status, no response was sent. */
  readonly requests: readonly { at: number; requestKey: string | null; status: number | null }[];
  readonly refunds: readonly SandboxResult<"listPayments">["items"][number][];
  readonly problem: string | undefined;
  /** How long the run took, in milliseconds. */
  readonly ranMs?: number;
};

/** Fails with the list of all requests for an order. */
export function fail(
  { order, requests, refunds, problem }: Outcome,
  expected: string,
  notes: readonly string[] = [],
): never {
  const lines = requests.map(
    ({ at, requestKey, status }) =>
      `after ${at} ms: requestKey ${requestKey ?? "none"}, ${status ?? "no response"}`,
  );
  const made = refunds.map(({ amount, status }) => `${amount.value} ${status}`).join(", ");
  throw new CheckFailure(expected, {
    received: [
      `${requests.length} requests for a refund of ${order.amount}`,
      ...lines.slice(0, 10),
      `refunds: ${made === "" ? "none" : made}`,
      ...(problem === undefined ? [] : [`the run: ${problem}`]),
      ...notes,
    ].join("\n"),
  });
}

/** Fails unless there is exactly one refund, of the right amount, and all requests had one requestKey. */
export function expectOneRefund(outcome: Outcome, because: string): void {
  const { order, refunds } = outcome;
  const [refund, ...others] = refunds;
  const isRight = refund && refund.amount.value === Number(order.amount) && others.length === 0;
  if (!isRight) fail(outcome, `exactly one refund of ${order.amount}, because ${because}`);
  const keys = new Set(outcome.requests.map(({ requestKey }) => requestKey));
  if (keys.size > 1) fail(outcome, "the same requestKey in each request for one refund");
}

/** Fails if the refund was requested more often than this. */
export function expectFew(outcome: Outcome, count: number, because: string): void {
  if (outcome.requests.length > count) fail(outcome, `at most ${count} requests, because ${because}`);
}
