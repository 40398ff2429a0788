import {
  issueRefund,
  type RefundAuthorizedEvent,
  type RefundRequest,
  type SubscriptionRequest,
  subscribeToWebhooks,
} from "./payments";
import { isType, missing, type ProgramInput, type Schemas } from "./program";

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  process.env.PAYMENTS_URL = baseUrl;
  const options = { headers: { Authorization: `Bearer ${token}`, Accept: "application/json" } };
  const body: RefundRequest = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  };

  const refund = await issueRefund(body, options);
  if (refund.status !== 201) return missing("refund");

  const duplicate = await issueRefund(body, options);
  if (duplicate.status !== 409) return missing("existing record");

  const invalid = await issueRefund({ ...body, amount: { currency: "USD", value: -1 } }, options);
  if (invalid.status !== 400) return missing("violations");

  const subscription = await subscribeToWebhooks(
    {
      url: "http://127.0.0.1:9/hooks",
      secretKey: "a secret of at least thirty-two bytes",
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    },
    options,
  );
  if (subscription.status !== 200) return missing("subscription");

  isType<number>()(body.amount.value);
  isType<201>()(refund.status);
  isType<Schemas["RefundStatus"]>()(refund.data.paymentStatus);
  isType<string>()(duplicate.data.errorDetails.errorCode);
  isType<string>()(duplicate.data.existing.paymentId);
  isType<string | undefined>()(invalid.data.violations[0]?.pointer);

  return {
    refund: { status: refund.status, body: refund.data },
    duplicate: { status: duplicate.status, body: duplicate.data },
    invalid: { status: invalid.status, body: invalid.data },
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
