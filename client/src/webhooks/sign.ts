import type { KnownWebhookEvent } from "./events.ts";
import { createSign } from "./signature.ts";

export type SignOptions = {
  /** The same on each attempt of one delivery; a new one by default. */
  webhookId?: string;
  /** The time of the attempt; now by default. */
  now?: () => Date;
};

/** A delivery as the service sends it, in the form of the second argument of `fetch` or `new Request`. */
export type SignedDelivery = {
  method: "POST";
  body: string;
  headers: Record<"content-type" | "webhook-id" | "webhook-timestamp" | "webhook-signature", string>;
};

/**
 * Creates a delivery for tests of a receiver, signed as the service signs.
 *
 * @param content the event, or a string that is signed unchanged, such as an event of a later version or an invalid body
 * @throws TypeError when `secretKey` is missing
 *
 * @example
 * const response = await receive(new Request("http://localhost/webhooks", signWebhook(event, secretKey)));
 */
export function signWebhook(
  content: KnownWebhookEvent | string,
  secretKey: string,
  { webhookId = `msg_${crypto.randomUUID()}`, now = () => new Date() }: SignOptions = {},
): SignedDelivery {
  const body = typeof content === "string" ? content : JSON.stringify(content);
  const timestamp = Math.floor(now().getTime() / 1000);
  return {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": webhookId,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": createSign(secretKey)({ webhookId, timestamp, body }),
    },
  };
}
