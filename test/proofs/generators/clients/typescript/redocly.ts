import { client, type RefundRequest } from "./payments";
import { missing, type ProgramInput } from "./program";

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  client.configure({ serverUrl: baseUrl, auth: { bearer: token }, headers: { Accept: "application/json" } });
  const body: RefundRequest = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  };

  const refund = await client.issueRefund({ body });
  if (refund.error) return missing("refund");

  // The error is one of several types. The status does not show which, but a field that only one of them has does.
  const duplicate = await client.issueRefund({ body });
  if (!duplicate.error || !("existing" in duplicate.error)) return missing("existing record");

  const invalid = await client.issueRefund({ body: { ...body, amount: { currency: "USD", value: -1 } } });
  if (!invalid.error || !("violations" in invalid.error)) return missing("violations");

  const subscription = await client.subscribeToWebhooks({
    body: {
      url: "http://127.0.0.1:9/hooks",
      secretKey: "a secret of at least thirty-two bytes",
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    },
  });
  if (subscription.error) return missing("subscription");

  return {
    refund: { status: refund.response.status, body: refund.data },
    duplicate: { status: duplicate.response.status, body: duplicate.error },
    invalid: { status: invalid.response.status, body: invalid.error },
    subscription: { status: subscription.response.status, body: subscription.data },
  };
}
