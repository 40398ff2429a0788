import { explainMismatch } from "./explain-mismatch.ts";
import { parseEvent, type WebhookEvent } from "./parse-event.ts";
import { createSign, type SignedContent } from "./sign.ts";
import { type WebhookRefusal, WebhookVerificationError } from "./verification-error.ts";

/**
 * Verifies that a delivery comes from the service, unchanged, and that its time is within five minutes of this clock.
 * @param rawBody the body exactly as received, before anything parsed it
 * @param secretKey the `secretKey` of the subscription, or several, any of which may have signed the delivery
 * @throws WebhookVerificationError when the verification fails; `reason` says why
 * @throws TypeError when `rawBody` is neither a string nor bytes, or `secretKey` is missing
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secretKey: WebhookSecrets,
  options: VerifyOptions = {},
): WebhookEvent {
  return createVerify(secretKey)(rawBody, headers, options).event;
}

/** The `secretKey` of a subscription, or several keys: while one replaces another, or for several subscriptions. */
export type WebhookSecrets = string | readonly string[];

/** The headers of a delivery, in the form of the Fetch API, Node, or any other framework. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** The current time; the runtime's clock by default. */
  now?: () => Date;
};

export type VerifiedDelivery = {
  event: WebhookEvent;
  /** The same on every attempt: remember it to recognize repeated deliveries. */
  webhookId: string;
};

/** Seconds by which the time of an attempt may differ from our clock, in either direction. */
export const TOLERANCE_SECONDS = 300;

/** Verifies one delivery, as `verifyWebhook` does. */
export type Verify = (
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  options: VerifyOptions,
) => VerifiedDelivery;

/**
 * Reads the secrets once for all deliveries.
 * @throws TypeError when there is no secret, or one is empty or not a string
 */
export function createVerify(secretKey: WebhookSecrets): Verify {
  const secrets = [secretKey].flat();
  // No secret at all is refused like an empty one.
  const signs = (secrets.length > 0 ? secrets : [""]).map(createSign);
  return (rawBody, headers, { now = () => new Date() }) => {
    const body = toText(rawBody);
    const webhookId = requireHeader(headers, "webhook-id");
    const timestamp = requireHeader(headers, "webhook-timestamp");
    const signatures = requireHeader(headers, "webhook-signature");
    const seconds = checkTimestamp(timestamp, now());
    if (body === undefined) throw refusal("no-matching-signature", "The body is not UTF-8.");
    const content = { webhookId, timestamp: seconds, body };
    if (!signs.some((sign) => includesSignature(signatures, sign(content)))) {
      const matches = (other: SignedContent, secret: string) =>
        includesSignature(signatures, createSign(secret)(other));
      throw refusal(
        "no-matching-signature",
        `No signature matches: another secret, or a changed delivery.${explainMismatch(content, secrets, matches)}`,
      );
    }
    const event = parseEvent(body);
    if (event === undefined) throw refusal("invalid-payload", "The body is signed, but it is not an event.");
    return { event, webhookId };
  };
}

/** Whether one of the signatures, separated by spaces, is the expected one. */
function includesSignature(signatures: string, expected: string): boolean {
  return signatures.split(" ").some((signature) => isEqual(signature, expected));
}

/** Takes the same time wherever the two differ, so that a signature cannot be guessed character by character. */
function isEqual(text: string, expected: string): boolean {
  if (text.length !== expected.length) return false;
  let difference = 0;
  for (let i = 0; i < expected.length; i += 1) difference |= text.charCodeAt(i) ^ expected.charCodeAt(i);
  return difference === 0;
}

/** Undefined for bytes that are not UTF-8: a lenient decoder makes one text of several bodies, of which only one was signed. */
function toText(rawBody: string | Uint8Array): string | undefined {
  if (typeof rawBody === "string") return rawBody;
  // Not instanceof: test runners and workers have their own Uint8Array and Headers.
  if (!ArrayBuffer.isView(rawBody)) {
    throw new TypeError(
      "The body is neither a string nor a Uint8Array: pass the raw body, before anything parses it.",
    );
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(rawBody);
  } catch {
    return undefined;
  }
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : findHeader(headers, name);
  if (!value) throw refusal("missing-header", `The header ${name} is missing.`);
  return value;
}

function isHeaders(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === "function";
}

function findHeader(headers: Exclude<WebhookHeaders, Headers>, name: string): string | undefined {
  const key = Object.keys(headers).find((candidate) => candidate.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === "object" ? value.join(" ") : value;
}

/** Reads the seconds. Strict, because the text of the number is signed, and `17e8` or ` 17` is another text. */
function checkTimestamp(text: string, now: Date): number {
  if (!/^[1-9]\d{0,11}$/.test(text))
    throw refusal("invalid-timestamp", "webhook-timestamp is not a whole number of seconds.");
  const age = Math.floor(now.getTime() / 1000) - Number(text);
  // Not `>`: the age is not a number when our clock gives no valid date.
  if (!(age <= TOLERANCE_SECONDS)) throw refusal("timestamp-too-old", `The attempt is ${age} s old.`);
  if (age < -TOLERANCE_SECONDS) throw refusal("timestamp-too-new", `The attempt is ${-age} s in the future.`);
  return Number(text);
}

function refusal(reason: WebhookRefusal, message: string): WebhookVerificationError {
  return new WebhookVerificationError(reason, message);
}
