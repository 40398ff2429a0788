import type { OperationId } from "../../client/src/index.ts";
import type { Exchange } from "./exchange.ts";
import type { CallSpec, Kit } from "./kit.ts";
import { PAYMENT_KINDS, type PaymentKind } from "./options.ts";

/** Both operations, for what holds for each. */
export const OPERATIONS = ["issueRefund", "subscribeToWebhooks"] as const satisfies readonly OperationId[];

/** A body that is refused as soon as it is looked at, so that no call with it does anything. */
export const INVALID_BODY = {};

/** One of the kinds that was given; the first of them that there is. */
export function paymentOf(
  kit: Kit,
  kinds: readonly PaymentKind[] = ["recent", "processing", ...PAYMENT_KINDS],
): string {
  const { payments } = kit.options;
  const found = kinds.map((kind) => payments[kind]).find((id) => id !== undefined);
  // For calls that are refused before anybody looks for the payment; the others say that they need one.
  return found ?? "pay_conform_unknown";
}

/** A good refund of one cent. A field that is undefined is left out. */
export function refundOf(kit: Kit, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    paymentId: paymentOf(kit),
    amount: { currency: "USD", value: 0.01 },
    requestKey: kit.newKey(),
    ...fields,
  };
}

/** A good refund with its amount written exactly so. */
export function refundWithLiteral(
  kit: Kit,
  literal: string,
  fields: Readonly<Record<string, unknown>> = {},
): string {
  const mark = "literal of the amount";
  const refund = refundOf(kit, { amount: { currency: "USD", value: mark }, ...fields });
  return JSON.stringify(refund).replace(`"${mark}"`, literal);
}

export function issue(kit: Kit, body: unknown, spec: CallSpec = {}): Promise<Exchange> {
  return kit.send({ operation: "issueRefund", body, ...spec });
}

/** A subscription that nobody minds if it is made by mistake: its host is under a name that is reserved. */
export function subscriptionOf(kit: Kit, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    url: "https://merchant.example.com/conform",
    secretKey: kit.newSecret(),
    subscriptionDetails: { type: "ALL" },
    ...fields,
  };
}

export function subscribe(kit: Kit, body: unknown, spec: CallSpec = {}): Promise<Exchange> {
  return kit.send({ operation: "subscribeToWebhooks", body, ...spec });
}
