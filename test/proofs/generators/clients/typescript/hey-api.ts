import {
  issueRefund,
  type RefundRequest,
  type SubscriptionRequest,
  subscribeToWebhooks,
  type Webhooks,
} from "./payments";
import { client } from "./payments/client.gen";
import { isType, missing, type ProgramInput, type Schemas } from "./program";

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  client.setConfig({ baseUrl, auth: token, headers: { Accept: "application/json" } });
  const body: RefundRequest = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  };

  const refund = await issueRefund({ body });
  if (refund.error) return missing("refund");

  // The error is one of several types. The status does not show which, but a field that only one of them has does.
  const duplicate = await issueRefund({ body });
  if (!duplicate.error || !("existing" in duplicate.error)) return missing("existing record");

  const invalid = await issueRefund({ body: { ...body, amount: { currency: "USD", value: -1 } } });
  if (!invalid.error || !("violations" in invalid.error)) return missing("violations");

  const subscription = await subscribeToWebhooks({
    body: {
      url: "http://127.0.0.1:9/hooks",
      secretKey: "a secret of at least thirty-two bytes",
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    },
  });
  if (subscription.error) return missing("subscription");

  isType<number>()(body.amount.value);
  isType<number | undefined>()(refund.response?.status);
  isType<Schemas["RefundStatus"]>()(refund.data.paymentStatus);
  isType<string>()(duplicate.error.errorDetails.errorCode);
  isType<string>()(duplicate.error.existing.paymentId);
  isType<string | undefined>()(invalid.error.violations[0]?.pointer);

  return {
    refund: { status: refund.response?.status, body: refund.data },
    duplicate: { status: duplicate.response?.status, body: duplicate.error },
    invalid: { status: invalid.response?.status, body: invalid.error },
    subscription: { status: subscription.response?.status, body: subscription.data },
  };
}

export function receive({ type, timestamp }: Webhooks["body"]) {
  isType<Schemas["EventName"]>()(type);
  isType<string>()(timestamp);
}

// @ts-expect-error the name of an event in a list of categories
export const details: SubscriptionRequest["subscriptionDetails"] = {
  type: "CATEGORY",
  details: ["refund.authorized"],
};
