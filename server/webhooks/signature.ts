import { Webhook } from "standardwebhooks";

const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The headers that let a receiver tell our deliveries from anybody else's (D22). */
export type SignatureHeaders = {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
};

/** The key that a secretKey stands for: what `whsec_` and base64 encode, or else its own UTF-8 bytes (D22). */
export function toSigningKey(secretKey: string): Uint8Array {
  const encoded = secretKey.startsWith(PREFIX) ? secretKey.slice(PREFIX.length) : "";
  const isEncoded = encoded !== "" && BASE64.test(encoded);
  return isEncoded ? Buffer.from(encoded, "base64") : Buffer.from(secretKey, "utf8");
}

/**
 * Signs a delivery as Standard Webhooks says.
 *
 * @param at real time of the attempt
 * @param body the exact text that is sent
 */
export function signDelivery(
  secretKey: string,
  { webhookId, at, body }: { webhookId: string; at: Date; body: string },
): SignatureHeaders {
  const signature = new Webhook(toSigningKey(secretKey), { format: "raw" }).sign(webhookId, at, body);
  return {
    "webhook-id": webhookId,
    "webhook-timestamp": `${Math.floor(at.getTime() / 1_000)}`,
    "webhook-signature": signature,
  };
}
