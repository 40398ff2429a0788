import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { TraceContext } from "../domain/trace-context.ts";
import type { Attempt } from "../storage/webhooks/claim-deliveries.ts";
import type { EncryptionKeys } from "../storage/webhooks/secret-encryption.ts";

/** The headers of an attempt at this time; for a past attempt, those that were sent. */
export function toDeliveryHeaders(
  { webhookId, payload, trace }: DeliveryToSign,
  at: Date,
  secretKeys: readonly SigningSecret[],
): DeliveryHeaders {
  return { ...signDelivery(secretKeys, { webhookId, at, body: payload }), ...trace };
}

/** The delivery, as far as the headers of its attempts depend on it. */
export type DeliveryToSign = Pick<Attempt, "webhookId" | "payload" | "trace">;

/** The headers of an attempt. A receiver verifies by the three `webhook-…` headers that this service sent it (D22). */
export type DeliveryHeaders = Partial<TraceContext> & {
  readonly "content-type": string;
  readonly "user-agent": string;
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
};

/** A merchant's secret, or the key that it is: making one takes as long as signing, so deliveries that are claimed together share it. */
export type SigningSecret = string | KeyObject;

/** The secrets that sign a delivery. Undefined when the key that encrypted one is not configured. */
export async function readSecrets(
  { merchant, secretCiphertexts }: Pick<Attempt, "merchant" | "secretCiphertexts">,
  encryptionKeys: EncryptionKeys,
): Promise<readonly KeyObject[] | undefined> {
  const keys = secretCiphertexts.map((secret) => encryptionKeys.decrypt(merchant, secret).then(toKeyObject));
  return Promise.all(keys).catch(() => undefined);
}

const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Signs a delivery as Standard Webhooks defines it (D22), once with each secret.
 * @param at real time of the attempt
 * @param body the exact text that is sent
 */
export function signDelivery(
  secretKeys: readonly SigningSecret[],
  { webhookId, at, body }: { webhookId: string; at: Date; body: string },
): DeliveryHeaders {
  const timestamp = `${Math.floor(at.getTime() / 1_000)}`;
  const signatures = secretKeys.map((secretKey) => {
    const key = typeof secretKey === "string" ? toKeyObject(secretKey) : secretKey;
    const hmac = createHmac("sha256", key);
    return `v1,${hmac.update(`${webhookId}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "content-type": "application/json",
    "user-agent": "refund-contract",
    "webhook-id": webhookId,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

/** With the bytes instead of a key of Node, signing would take four times as long. */
const toKeyObject = (secretKey: string) => createSecretKey(toSigningKey(secretKey));

/** The key of a secretKey: the bytes that follow `whsec_` in base64, or otherwise its own UTF-8 bytes (D22). */
export function toSigningKey(secretKey: string): Uint8Array {
  return secretFormOf(secretKey) === "BASE64"
    ? Buffer.from(secretKey.slice(PREFIX.length), "base64")
    : Buffer.from(secretKey, "utf8");
}

/** How a secretKey is read: as `whsec_` and base64, or as a text. */
export function secretFormOf(secretKey: string): "BASE64" | "TEXT" {
  const encoded = secretKey.startsWith(PREFIX) ? secretKey.slice(PREFIX.length) : "";
  return encoded !== "" && BASE64.test(encoded) ? "BASE64" : "TEXT";
}
