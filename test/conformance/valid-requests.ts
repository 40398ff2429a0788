import type { OperationId } from "../../client/src/index.ts";
import type { Exchange } from "../reporting/exchange.ts";
import type { CallSpec, Kit } from "./kit.ts";
import { PAYMENT_KINDS, type PaymentKind } from "./options.ts";

/** Both operations, for rules that apply to each. */
export const OPERATIONS = ["issueRefund", "subscribeToWebhooks"] as const satisfies readonly OperationId[];

/** A body that is always refused, so that no call with it has an effect. */
export const INVALID_BODY = {};

/** The first of these kinds of payments for which an option is set. */
export function paymentOf(
  kit: Kit,
  kinds: readonly PaymentKind[] = ["recent", "processing", ...PAYMENT_KINDS],
): string {
  const { payments } = kit.options;
  const found = kinds.map((kind) => payments[kind]).find((id) => id !== undefined);
  // For calls that are refused before the payment is looked up; other checks declare that they need one.
  return found ?? "pay_conform_unknown";
}

/** A valid refund of one cent. Undefined fields are left out. */
export function refundOf(kit: Kit, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    paymentId: paymentOf(kit),
    amount: { currency: "USD", value: 0.01 },
    requestKey: kit.newKey(),
    ...fields,
  };
}

export function issue(kit: Kit, body: unknown, spec: CallSpec = {}): Promise<Exchange> {
  return kit.send({ operation: "issueRefund", body, ...spec });
}

/** A subscription that does no harm if it is created by mistake: its host is under a reserved name. */
export function subscriptionOf(kit: Kit, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    url: "https://merchant.example.com/conform",
    secretKey: kit.newSecret(),
    subscriptionDetails: { type: "ALL" },
    ...fields,
  };
}

export function subscribe(kit: Kit, body: unknown): Promise<Exchange> {
  return kit.send({ operation: "subscribeToWebhooks", body });
}
