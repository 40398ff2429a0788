import {
  Api,
  type RefundAuthorizedEvent,
  type RefundRequest,
  type SubscriptionRequest,
} from "./payments/client";
import { isType, missing, type ProgramInput, type Schemas } from "./program";

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  const headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
  // Without `format`, the client does not read response bodies.
  const { v1 } = new Api({ baseUrl, baseApiParams: { headers, format: "json" } });
  const body: RefundRequest = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  };

  const refund = await v1.issueRefund(body);

  // The error is one of several types. The status does not show which, but a field that only one of them has does.
  const duplicate = await v1.issueRefund(body);
  if (!("existing" in duplicate.error)) return missing("existing record");

  const invalid = await v1.issueRefund({ ...body, amount: { currency: "USD", value: -1 } });
  if (!("violations" in invalid.error)) return missing("violations");

  const subscription = await v1.subscribeToWebhooks({
    url: "http://127.0.0.1:9/hooks",
    secretKey: "a secret of at least thirty-two bytes",
    subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
  });

  isType<number>()(body.amount.value);
  isType<number>()(refund.status);
  isType<Schemas["RefundStatus"]>()(refund.data.paymentStatus);
  isType<string>()(duplicate.error.errorDetails.errorCode);
  isType<string>()(duplicate.error.existing.paymentId);
  isType<string | undefined>()(invalid.error.violations[0]?.pointer);

  return {
    refund: { status: refund.status, body: refund.data },
    duplicate: { status: duplicate.status, body: duplicate.error },
    invalid: { status: invalid.status, body: invalid.error },
    subscription: { status: subscription.status, body: subscription.data },
  };
}

export function receive({ type, timestamp }: RefundAuthorizedEvent) {
  isType<"refund.authorized">()(type);
  isType<string>()(timestamp);
}

// @ts-expect-error the name of an event in a list of categories
export const details: SubscriptionRequest["subscriptionDetails"] = {
  type: "CATEGORY",
  details: ["refund.authorized"],
};
