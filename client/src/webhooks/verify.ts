import { type WebhookRefusal, WebhookVerificationError } from "./errors.ts";
import { parseEvent, type WebhookEvent } from "./events.ts";
import { createSignatureCheck, type SignatureCheck, type WebhookSecrets } from "./signature-check.ts";

/** The headers of a delivery, in the form of the Fetch API, Node, or any other framework. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyOptions = {
  /** The current time; the runtime's clock by default. */
  now?: () => Date;
};

/** A verified delivery. */
export type VerifiedDelivery = {
  event: WebhookEvent;
  /** The same on every attempt: remember it to recognize repeated deliveries. */
  webhookId: string;
};

/** Seconds by which the time of an attempt may differ from our clock, in either direction. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies that a delivery comes from the service, unchanged, and was sent within the last five minutes.
 *
 * @param rawBody the body exactly as received, before anything parsed it
 * @param secretKey the `secretKey` of the subscription, or several, any of which may have signed the delivery
 * @throws WebhookVerificationError when the verification fails; `reason` says why
 * @throws TypeError when `rawBody` was parsed already, or `secretKey` is missing
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secretKey: WebhookSecrets,
  options: VerifyOptions = {},
): WebhookEvent {
  return verifyDelivery(rawBody, headers, createSignatureCheck(secretKey), options).event;
}

/** As `verifyWebhook`, with secrets that have already been read, and with the delivery's id. */
export function verifyDelivery(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  check: SignatureCheck,
  { now = () => new Date() }: VerifyOptions,
): VerifiedDelivery {
  const body = toText(rawBody);
  const webhookId = requireHeader(headers, "webhook-id");
  const timestamp = requireHeader(headers, "webhook-timestamp");
  const signatures = requireHeader(headers, "webhook-signature");
  const seconds = checkTimestamp(timestamp, now());
  if (body === undefined) throw refusal("no-matching-signature", "The body is not UTF-8.");
  const content = { webhookId, timestamp: seconds, body };
  if (!check.isSigned(content, signatures)) {
    const hint = check.explain(content, signatures);
    throw refusal(
      "no-matching-signature",
      `No signature matches: another secret, or a changed delivery.${hint}`,
    );
  }
  const event = parseEvent(body);
  if (event === undefined) throw refusal("invalid-payload", "The body is signed, but it is not an event.");
  return { event, webhookId };
}

/**
 * Undefined for bytes that are not UTF-8: with the replacement character in their place, they could match another body's
 * signature.
 */
function toText(rawBody: string | Uint8Array): string | undefined {
  if (typeof rawBody === "string") return rawBody;
  // Not instanceof: test runners and workers have their own Uint8Array and Headers.
  if (!ArrayBuffer.isView(rawBody)) {
    throw new TypeError("The body was parsed already: pass the raw body, as a string or as bytes.");
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
  if (!/^[1-9]\d{0,11}$/.test(text)) {
    throw refusal("invalid-timestamp", "webhook-timestamp is not a whole number of seconds.");
  }
  const age = Math.floor(now.getTime() / 1000) - Number(text);
  if (age > TOLERANCE_SECONDS) throw refusal("timestamp-too-old", `The attempt is ${age} s old.`);
  if (age < -TOLERANCE_SECONDS) throw refusal("timestamp-too-new", `The attempt is ${-age} s in the future.`);
  return Number(text);
}

function refusal(reason: WebhookRefusal, message: string): WebhookVerificationError {
  return new WebhookVerificationError(reason, message);
}
