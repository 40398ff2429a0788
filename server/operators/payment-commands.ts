import { applyPayment, type PaymentStore } from "./apply-payment.ts";
import { feedLines, type LineStream } from "./line-feed.ts";
import { readLineSchemas } from "./line-schemas.ts";
import { createPaymentLineParser, type PaymentLine } from "./payment-line.ts";

export type PaymentsOptions = LineStream & {
  store: PaymentStore;
  /** The domain's time. */
  now: () => Date;
};

/**
 * Applies lines about original payments (D25). Lines with the same payment or requestKey are applied in their order.
 *
 * @returns whether every line was accepted
 */
export async function feedPayments({ store, now, ...stream }: PaymentsOptions): Promise<boolean> {
  const counts = await feedLines(stream, {
    results: ["applied", "unchanged"],
    parse: createPaymentLineParser(readLineSchemas()),
    keysOf,
    apply: (line) => applyPayment(store, line, now()),
  });
  return counts !== undefined;
}

function keysOf(line: PaymentLine): string[] {
  const payment = JSON.stringify([line.merchant, "payment", line.paymentId]);
  if (line.op !== "put" || line.requestKey === null) return [payment];
  return [payment, JSON.stringify([line.merchant, "key", line.requestKey])];
}
