/** Signed webhooks for tests of the client's `verifyWebhook`, from vectors that another program computed. */
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import type { WebhookEventOf } from "../../client/src/index.ts";

/** A delivery whose signature was computed independently of the client, from the text of the standard. */
export type SignatureVector = {
  readonly name: string;
  readonly secretKey: string;
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
  readonly signature: string;
};

/** The expected signatures of sender and receivers. */
export const SIGNATURE_VECTORS: readonly SignatureVector[] = JSON.parse(
  readFileSync(new URL("../fixtures/webhook-signatures.json", import.meta.url), "utf8"),
);

export const SECRET_KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** The instant at which `signDelivery` was sent. */
export const SENT_AT = new Date("2026-11-25T05:00:00.000Z");

export const AUTHORIZED_EVENT: WebhookEventOf<"refund.authorized"> = {
  type: "refund.authorized",
  timestamp: "2026-11-25T05:00:00.000Z",
  sequence: 2,
  data: {
    paymentId: "rfd_019aa5b2-6c1e-7d3f-8a41-5b0c9e2d7f10",
    paymentStatus: "AUTHORIZED",
    clientReferenceId: "order-1042",
    originalPaymentId: "pay_settled",
    amount: { currency: "USD", value: 19.99 },
    requestKey: "refund-1042-1",
  },
};

export const WEBHOOK_ID = "msg_019aa5b2-7f30-7c11-9d52-3e8b64a1c0de";

export type Delivery = { readonly body: string; readonly headers: Record<WebhookHeader, string> };
type WebhookHeader = "content-type" | "webhook-id" | "webhook-timestamp" | "webhook-signature";

/** A delivery as the service sends it, signed by the stock library. A string is sent unchanged, anything else as JSON. */
export function signDelivery(content: unknown = AUTHORIZED_EVENT, at: Date = SENT_AT): Delivery {
  const body = typeof content === "string" ? content : JSON.stringify(content);
  return {
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": WEBHOOK_ID,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(SECRET_KEY).sign(WEBHOOK_ID, at, body),
    },
  };
}

/** An event whose JSON has the given length. */
export function eventOfBytes(bytes: number): string {
  const text = (note: string) => JSON.stringify({ ...AUTHORIZED_EVENT, data: { note } });
  return text("x".repeat(bytes - text("").length));
}
