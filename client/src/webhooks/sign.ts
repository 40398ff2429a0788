import sha256 from "fast-sha256";
import type { KnownWebhookEvent } from "./parse-event.ts";

/**
 * Creates a delivery for tests of a receiver, signed as the service signs.
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

/** The data that a signature covers. */
export type SignedContent = {
  webhookId: string;
  /** Seconds since 1970. */
  timestamp: number;
  body: string;
};

/** Creates the signature of a delivery: `v1,` and base64. */
type Sign = (content: SignedContent) => string;

/**
 * Signs as the service does, under a subscription's `secretKey`.
 * @throws TypeError when the secret is empty or not a string, as a missing setting would be
 */
export function createSign(secretKey: string): Sign {
  if (typeof secretKey !== "string" || secretKey === "")
    throw new TypeError("secretKey is missing: pass the one of your subscription.");
  const key = toKey(secretKey);
  return ({ webhookId, timestamp, body }) => {
    const content = new TextEncoder().encode(`${webhookId}.${timestamp}.${body}`);
    return `v1,${btoa(String.fromCharCode(...sha256.hmac(key, content)))}`;
  };
}

const BASE64 = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;

/** Where valid base64 does not follow `whsec_`, the whole text is the key, as at the service. */
function toKey(secretKey: string): Uint8Array {
  const base64 = BASE64.exec(secretKey)?.[1];
  return base64 ? Uint8Array.from(atob(base64), toByte) : new TextEncoder().encode(secretKey);
}

function toByte(character: string): number {
  return character.charCodeAt(0);
}
