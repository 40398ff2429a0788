import { createHmac, createSecretKey } from "node:crypto";
import type { TraceContext } from "../domain/trace-context.ts";
import type { Attempt } from "../storage/webhooks/claims.ts";
import type { EncryptionKeys } from "../storage/webhooks/secrets.ts";

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

/** The secrets that sign a delivery. Undefined when the key that encrypted one is not configured. */
export async function readSecrets(
  { merchant, secretCiphertexts }: Pick<Attempt, "merchant" | "secretCiphertexts">,
  encryptionKeys: EncryptionKeys,
): Promise<readonly string[] | undefined> {
  const decrypted = secretCiphertexts.map((secret) => encryptionKeys.decrypt(merchant, secret));
  return Promise.all(decrypted).catch(() => undefined);
}

/** The headers of an attempt at this time; for a past attempt, those that were sent. */
export function toDeliveryHeaders(
  { webhookId, payload, trace }: DeliveryToSign,
  at: Date,
  secretKeys: readonly string[],
): DeliveryHeaders {
  return { ...signDelivery(secretKeys, { webhookId, at, body: payload }), ...trace };
}

const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Signs a delivery as Standard Webhooks defines it (D22), once with each secret.
 * @param at real time of the attempt
 * @param body the exact text that is sent
 */
export function signDelivery(
  secretKeys: readonly string[],
  { webhookId, at, body }: { webhookId: string; at: Date; body: string },
): DeliveryHeaders {
  const timestamp = `${Math.floor(at.getTime() / 1_000)}`;
  const signatures = secretKeys.map((secretKey) => {
    // With the bytes instead of a key of Node, it would take four times as long.
    const hmac = createHmac("sha256", createSecretKey(toSigningKey(secretKey)));
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

/** What to do about a secret that a person could guess; it is accepted all the same. */
export const GUESSABLE_SECRET =
  "The secretKey looks as if a person could guess it. Make a random one, for example whsec_ and the output of: openssl rand -base64 32";

/** The least strength of a key that NIST accepts (SP 800-131A), in bits. */
const LEAST_BITS = 112;
/** The bits of a word that is drawn from a list of four thousand. */
const WORD_BITS = 12;
/** Letters that may be a word, with the separator before it. */
const WORD = /[^A-Za-z0-9]?(?:[A-Za-z][a-z]{4,11}|[A-Z]{5,12})/g;

/** How many characters of each kind there are to choose from. */
const ALPHABETS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/[0-9]/, 10],
  [/[!-/:-@[-`{-~ ]/, 33],
  [/[^ -~]/, 161],
];

/**
 * Estimates whether a person could guess a secret: too short, made of words, or of characters that repeat or count up. It may
 * be wrong in both directions, so it is the reason for a warning and not for a refusal.
 */
export function isGuessable(secretKey: string): boolean {
  const key = toPeriod(Buffer.from(toSigningKey(secretKey)).toString("latin1"));
  const others = key.replaceAll(WORD, "");
  // Random letters look like a word here and there.
  const isOfWords = others.length * 2 < key.length;
  const words = isOfWords ? (key.match(WORD)?.length ?? 0) : 0;
  const rest = withoutSteps(isOfWords ? others : key);
  const alphabet = ALPHABETS.reduce((sum, [kind, size]) => sum + (kind.test(rest) ? size : 0), 1);
  return words * WORD_BITS + rest.length * Math.log2(alphabet) < LEAST_BITS;
}

/** The text that was repeated: `abc` for `abcabc`. */
function toPeriod(text: string): string {
  return text.slice(0, (text + text).indexOf(text, 1));
}

/** Leaves out characters that repeat the one before, or continue to count up or down. */
function withoutSteps(text: string): string {
  const step = (index: number) => text.charCodeAt(index) - text.charCodeAt(index - 1);
  return [...text]
    .filter(
      (_, index) => !(step(index) === 0 || (Math.abs(step(index)) === 1 && step(index) === step(index - 1))),
    )
    .join("");
}
