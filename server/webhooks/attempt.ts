import { Webhook } from "standardwebhooks";
import { toOutcome } from "../domain/deliveries.ts";
import type { AttemptResult } from "../storage/statements/attempts.ts";
import type { Attempt } from "../storage/statements/claims.ts";
import { decryptSecret } from "../storage/webhooks/secrets.ts";
import type { NameResolver } from "./resolver.ts";
import { COMMON_HEADERS, type SendOptions, type SendResult, send } from "./send.ts";

export type AttemptOptions = Omit<SendOptions, "resolve"> & {
  readonly resolver: Pick<NameResolver, "resolve">;
  readonly encryptionKeys: readonly Buffer[];
  /** Real time. */
  readonly realNow: () => Date;
  /** From 0 up to 1. */
  readonly random: () => number;
};

/** The result of an attempt, and whether it ended by a timeout. */
export type MadeAttempt = AttemptResult & Pick<SendResult, "timedOut">;

/** Larger statuses are not defined by HTTP; the receiver's response then counts as one without a status. */
const MAX_STATUS = 599;

/** Signs and sends a delivery once, and decides what follows (D22, D23). Never rejects. */
export async function makeAttempt(attempt: Attempt, options: AttemptOptions): Promise<MadeAttempt> {
  const at = options.realNow();
  const startedMs = performance.now();
  const { status, error, retryAfter, bodyStart, timedOut } = await signAndSend(attempt, at, options);
  return {
    at,
    status: status !== null && status <= MAX_STATUS ? status : null,
    error,
    milliseconds: Math.round(performance.now() - startedMs),
    bodyStart,
    timedOut,
    outcome: toOutcome({ status, success: error === null, retryAfter }, attempt.earlierAttempts + 1, {
      random: options.random(),
      realNow: options.realNow(),
    }),
  };
}

async function signAndSend(attempt: Attempt, at: Date, options: AttemptOptions): Promise<SendResult> {
  const { webhookId, merchant, url, payload: body } = attempt;
  const secretKey = readSecret(attempt, options.encryptionKeys);
  if (secretKey === undefined) {
    const error = "the secretKey can't be read";
    return { status: null, error, retryAfter: undefined, bodyStart: null, timedOut: false };
  }
  const resolve = (hostname: string) => options.resolver.resolve(hostname, merchant);
  const headers = signDelivery(secretKey, { webhookId, at, body });
  return send({ url, body, headers }, { ...options, resolve });
}

/** Undefined when the key that encrypted the secret is not configured. */
function readSecret(
  { merchant, secretCiphertext }: Pick<Attempt, "merchant" | "secretCiphertext">,
  encryptionKeys: readonly Buffer[],
): string | undefined {
  try {
    return decryptSecret(encryptionKeys, merchant, secretCiphertext);
  } catch {
    return undefined;
  }
}

/** The headers of an attempt that was made, from what is stored of it; undefined when its secret can't be read. */
export function headersSent(
  delivery: Pick<Attempt, "merchant" | "secretCiphertext" | "webhookId" | "payload">,
  at: Date,
  encryptionKeys: readonly Buffer[],
) {
  const { webhookId, payload: body } = delivery;
  const secretKey = readSecret(delivery, encryptionKeys);
  if (secretKey === undefined) return undefined;
  return { ...COMMON_HEADERS, ...signDelivery(secretKey, { webhookId, at, body }) };
}

/** The headers by which a receiver verifies that this service sent a delivery (D22). */
export type SignatureHeaders = {
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
};

const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Signs a delivery as Standard Webhooks defines it (D22).
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

/**
 * The signing key that a secretKey stands for: the bytes that follow `whsec_` in base64, or otherwise its own UTF-8 bytes
 * (D22).
 */
function toSigningKey(secretKey: string): Uint8Array {
  const encoded = secretKey.startsWith(PREFIX) ? secretKey.slice(PREFIX.length) : "";
  const isEncoded = encoded !== "" && BASE64.test(encoded);
  return isEncoded ? Buffer.from(encoded, "base64") : Buffer.from(secretKey, "utf8");
}
