import { type WebhookRefusal, WebhookVerificationError } from "./errors.ts";
import { parseEvent, type WebhookEvent } from "./events.ts";
import { createSignatureCheck, type SignatureCheck, type WebhookSecrets } from "./secrets.ts";

/** The headers of a delivery: of the Fetch API, of Node, or as any other framework names them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Real time; the runtime's own clock unless given. */
  now?: () => Date;
}

/** A delivery that was verified. */
export interface VerifiedDelivery {
  event: WebhookEvent;
  /** The same on every attempt: remember it to notice an event that comes again. */
  webhookId: string;
}

/** Seconds that an attempt may be away from our clock, either way. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies that a delivery comes from the service as it is, and was sent within five minutes (D22).
 *
 * @param rawBody the body as it came, before anything parsed it
 * @param secretKey the one given when subscribing; or several, of which any may have signed
 * @throws WebhookVerificationError when it does not; `reason` says why
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

/** As `verifyWebhook`, with secrets that were read before, and with the delivery's id. */
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

/** Undefined for bytes that are no UTF-8: replaced by the mark for such bytes, they could match another body's signature. */
function toText(rawBody: string | Uint8Array): string | undefined {
  if (typeof rawBody === "string") return rawBody;
  // Not instanceof: test runners and workers have a Uint8Array and a Headers of their own.
  if (!ArrayBuffer.isView(rawBody)) {
    throw new TypeError("The body was parsed already: give it as it came, as a string or as bytes.");
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

/** Reads the seconds. Strict, because the number is signed: `17e8` or ` 17` would pass as another text. */
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
