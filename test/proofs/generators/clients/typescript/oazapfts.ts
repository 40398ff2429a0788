import { defaults, issueRefund, type RefundRequest, subscribeToWebhooks } from "./payments";
import { missing, type ProgramInput } from "./program";

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  defaults.baseUrl = baseUrl;
  defaults.headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
  const body: RefundRequest = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  };

  const refund = await issueRefund(body);
  if (refund.status !== 201) return missing("refund");

  const duplicate = await issueRefund(body);
  if (duplicate.status !== 409) return missing("existing record");

  const invalid = await issueRefund({ ...body, amount: { currency: "USD", value: -1 } });
  if (invalid.status !== 400) return missing("violations");

  const subscription = await subscribeToWebhooks({
    url: "http://127.0.0.1:9/hooks",
    secretKey: "a secret of at least thirty-two bytes",
    subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
  });
  if (subscription.status !== 200) return missing("subscription");

  return {
    refund: { status: refund.status, body: refund.data },
    duplicate: { status: duplicate.status, body: duplicate.data },
    invalid: { status: invalid.status, body: invalid.data },
    subscription: { status: subscription.status, body: subscription.data },
  };
}
