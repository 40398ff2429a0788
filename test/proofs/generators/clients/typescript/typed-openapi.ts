import { createApiClient, type Schemas } from "./payments";
import { missing, type ProgramInput } from "./program";

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  const headers = {
    Authorization: `Bearer ${token}`,
    Accept: "application/json",
    "Content-Type": "application/json",
  };
  const send = ({ method, url, parameters }: Call) =>
    fetch(url, { method, headers, body: JSON.stringify(parameters?.body) });
  const api = createApiClient({ fetch: send }, baseUrl);
  const body: Schemas.RefundRequest = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  };

  const refund = await api.post("/v1/refunds", { body, withResponse: true });
  if (refund.status !== 201) return missing("refund");

  const duplicate = await api.post("/v1/refunds", { body, withResponse: true });
  if (duplicate.status !== 409) return missing("existing record");

  const wrong = { ...body, amount: { ...body.amount, value: -1 } };
  const invalid = await api.post("/v1/refunds", { body: wrong, withResponse: true });
  if (invalid.status !== 400) return missing("violations");

  const subscription = await api.post("/v1/webhook/subscribe", {
    body: {
      url: "http://127.0.0.1:9/hooks",
      secretKey: "a secret of at least thirty-two bytes",
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    },
    withResponse: true,
  });
  if (subscription.status !== 200) return missing("subscription");

  return {
    refund: { status: refund.status, body: refund.data },
    duplicate: { status: duplicate.status, body: duplicate.data },
    invalid: { status: invalid.status, body: invalid.data },
    subscription: { status: subscription.status, body: subscription.data },
  };
}

type Call = Parameters<Parameters<typeof createApiClient>[0]["fetch"]>[0];
