/** A call that makes what another call is about. */
export type Step = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** What the call after it names: a value of the answer, and where that stands. */
  readonly take?: { readonly name: string; readonly from: readonly (string | number)[] };
};

/**
 * Payments of a fresh sandbox that are in the state that a call needs, in place of the one that the parameter has as its
 * example. No two calls that end a payment's life share one, so that the samples also work one after the other.
 */
export const PAYMENTS: Readonly<Record<string, string>> = {
  settlePayment: "pay_processing",
  failPayment: "pay_recent",
};

const SUBSCRIBE = {
  method: "POST",
  path: "/v1/webhook/subscribe",
  body: {
    url: "http://127.0.0.1:4000/webhooks",
    secretKey: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    subscriptionDetails: { type: "ALL" },
  },
} as const;

/** What a fresh sandbox has none of is made first. */
export const PREPARATIONS: Readonly<Record<string, readonly Step[]>> = {
  endSubscription: [{ ...SUBSCRIBE, take: { name: "subscriptionKey", from: ["subscriptionKey"] } }],
  redeliver: [
    SUBSCRIBE,
    {
      method: "POST",
      path: "/sandbox/events",
      body: { type: "account.linked", resourceId: "acc_7h2k9" },
    },
    {
      method: "GET",
      path: "/sandbox/deliveries?limit=1",
      take: { name: "webhookId", from: ["items", 0, "webhookId"] },
    },
  ],
};
