import { BodyTooLargeError } from "../bytes.ts";
import { type WebhookRefusal, WebhookVerificationError } from "./errors.ts";
import type { KnownWebhookEvent, UnknownWebhookEvent, WebhookEvent } from "./events.ts";
import { createSignatureCheck, type WebhookSecrets } from "./secrets.ts";
import { type VerifiedDelivery, type VerifyOptions, verifyDelivery, type WebhookHeaders } from "./verify.ts";

/** Hears an event. Its id is the same on every attempt to deliver it. */
export type Hear<Event> = (event: Event, webhookId: string) => unknown;

interface CommonOptions extends VerifyOptions {
  /** The one given when subscribing; or several, of which any may have signed. */
  secretKey: WebhookSecrets;
  /**
   * Hears why a delivery was not accepted: a `WebhookVerificationError`, or what `onEvent` threw. Prints with
   * `console.error` unless given.
   */
  onError?: (error: unknown) => void;
}

interface OneHearer {
  /**
   * Hears each event that was verified. The response is a success when it resolves, and so is not repeated:
   * resolve once the event is stored, within 15 seconds. An event may come twice, with the same `webhookId`, and before
   * an earlier one: `event.sequence` gives the order.
   */
  onEvent: Hear<WebhookEvent>;
  onUnknownEvent?: undefined;
}

interface TwoHearers {
  /**
   * Hears each event that was verified and that this version of the client knows. The response is a success
   * when it resolves, and so is not repeated: resolve once the event is stored, within 15 seconds. An event may come
   * twice, with the same `webhookId`, and before an earlier one: `event.sequence` gives the order.
   */
  onEvent: Hear<KnownWebhookEvent>;
  /** Hears the other ones, which the service began to send later; `onEvent` hears them too unless this is given. */
  onUnknownEvent: Hear<UnknownWebhookEvent>;
}

/** Options that keep the known events apart from the others. */
export type SeparatedWebhookOptions = CommonOptions & TwoHearers;

export type WebhookHandlerOptions = SeparatedWebhookOptions | (CommonOptions & OneHearer);

/** The response of a handler. A refusal gives its reason and no more, because the sender is unknown. */
export type WebhookResponse = { status: 204 | 413 | 500 } | { status: 400; reason: WebhookRefusal };

/** Reads, verifies and hands on one delivery, and resolves with the response. Rejects only when `onError` throws. */
export type RespondToWebhook = (
  headers: WebhookHeaders,
  readBody: () => Promise<string | Uint8Array>,
) => Promise<WebhookResponse>;

/** @throws TypeError when `secretKey` is missing: at the start, and not with the first delivery */
export function createRespond(options: WebhookHandlerOptions): RespondToWebhook {
  const { secretKey, onError } = options;
  const check = createSignatureCheck(secretKey);
  const refuse = (error: unknown, response: WebhookResponse): WebhookResponse => {
    if (onError) onError(error);
    else console.error(error);
    return response;
  };
  return async (headers, readBody) => {
    let delivery: VerifiedDelivery;
    try {
      delivery = verifyDelivery(await readBody(), headers, check, options);
    } catch (error) {
      return refuse(error, toErrorResponse(error));
    }
    try {
      await hear(options, delivery);
      return { status: 204 };
    } catch (error) {
      return refuse(error, { status: 500 });
    }
  };
}

function hear(options: WebhookHandlerOptions, { event, webhookId }: VerifiedDelivery): unknown {
  if (!options.onUnknownEvent) return options.onEvent(event, webhookId);
  if (event.type === "unknown") return options.onUnknownEvent(event, webhookId);
  return options.onEvent(event, webhookId);
}

function toErrorResponse(error: unknown): WebhookResponse {
  if (error instanceof WebhookVerificationError) return { status: 400, reason: error.reason };
  if (error instanceof BodyTooLargeError) return { status: 413 };
  return { status: 500 }; // An error of the receiver, or an incomplete body: another attempt may succeed.
}
