import { CheckFailure } from "../../reporting/exchange.ts";

/** A refund that the merchant's system is to issue. */
export type Order = {
  readonly paymentId: string;
  /** In dollars, such as `19.99`. */
  readonly amount: string;
  readonly reference: string;
};

/** A request of the merchant's system for an order, in the order of their arrival. */
export type CallerRequest = {
  /** Milliseconds since the first one. */
  readonly at: number;
  readonly requestKey: string | null;
  /** Null when no response was sent. */
  readonly status: number | null;
};

/** The outcome of an order: the requests for it, the refunds that were made, and what the command that had to issue it printed. */
export type Outcome = {
  readonly order: Order;
  readonly requests: readonly CallerRequest[];
  readonly refunds: readonly {
    readonly amount: number;
    readonly status: string;
    readonly reference: string | null;
  }[];
  readonly problem: string | undefined;
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
  const made = refunds.map(({ amount, status }) => `${amount} ${status}`).join(", ");
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
