import { createClient, type NormalizeOAS } from "fets";
import type { document } from "./payments";
import { missing, type ProgramInput } from "./program";

// With `servers`, the client accepts no address but the sandbox's default one.
export type Payments = NormalizeOAS<Omit<typeof document, "servers">>;

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  const client = createClient<Payments>({ endpoint: baseUrl });
  // New headers for each call, because the client writes the length of a body into the given headers.
  const headers = () => ({ Authorization: `Bearer ${token}`, Accept: "application/json" }) as const;
  const body = {
    paymentId: "pay_recent",
    amount: { currency: "USD", value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  } as const;

  const refund = await client["/v1/refunds"].post({ json: body, headers: headers() });
  if (refund.status !== 201) return missing("refund");

  const duplicate = await client["/v1/refunds"].post({ json: body, headers: headers() });
  if (duplicate.status !== 409) return missing("existing record");

  const wrong = { ...body, amount: { ...body.amount, value: -1 } };
  const invalid = await client["/v1/refunds"].post({ json: wrong, headers: headers() });
  if (invalid.status !== 400) return missing("violations");

  const subscription = await client["/v1/webhook/subscribe"].post({
    json: {
      url: "http://127.0.0.1:9/hooks",
      secretKey: "a secret of at least thirty-two bytes",
      subscriptionDetails: { type: "EVENT", details: ["refund.authorized"] },
    },
    headers: headers(),
  });
  if (subscription.status !== 200) return missing("subscription");

  return {
    refund: { status: refund.status, body: await refund.json() },
    duplicate: { status: duplicate.status, body: await duplicate.json() },
    invalid: { status: invalid.status, body: await invalid.json() },
    subscription: { status: subscription.status, body: await subscription.json() },
  };
}
