import { BodyTooLargeError } from "../limited-body.ts";
import type { KnownWebhookEvent, UnknownWebhookEvent, WebhookEvent } from "./parse-event.ts";
import { type WebhookRefusal, WebhookVerificationError } from "./verification-error.ts";
import {
  createVerify,
  type VerifiedDelivery,
  type VerifyOptions,
  type WebhookHeaders,
  type WebhookSecrets,
} from "./verify.ts";

/**
 * What both handlers have in common: verifies a delivery, passes its event on, and decides the response.
 * @throws TypeError when `secretKey` is missing: immediately, not with the first delivery
 */
export function createRespond(options: WebhookHandlerOptions): RespondToWebhook {
  const { secretKey, onError } = options;
  const verify = createVerify(secretKey);
  // An error of `onError` is printed: otherwise anybody could end the process by posting to the receiver.
  const report = async (error: unknown) => (onError ? onError(error) : console.error(error));
  const refuse = (error: unknown, response: WebhookResponse): WebhookResponse => {
    report(error).catch(console.error);
    return response;
  };
  return async (headers, readBody) => {
    let delivery: VerifiedDelivery;
    try {
      delivery = verify(await readBody(), headers, options);
    } catch (error) {
      return refuse(error, toErrorResponse(error));
    }
    try {
      await handle(options, delivery);
      return { status: 204 };
    } catch (error) {
      return refuse(error, { status: 500 });
    }
  };
}

/** Called with an event. The id is the same on every attempt to deliver it. */
export type EventHandler<Event> = (event: Event, webhookId: string) => unknown;

type CommonOptions = VerifyOptions & {
  /** The `secretKey` of the subscription, or several, any of which may have signed the delivery. */
  secretKey: WebhookSecrets;
  /**
   * Called with the reason why a delivery was not accepted: a `WebhookVerificationError`, or the error that `onEvent` threw.
   * By default, it is printed with `console.error`; so is an error of this function.
   */
  onError?: (error: unknown) => void;
};

type SingleHandlerOptions = {
  /**
   * Called with each verified event. When it resolves, the response is a success and the delivery is not retried: resolve
   * once the event is stored, within 15 seconds. An event can arrive twice, with the same `webhookId`, or before an earlier
   * one: `event.sequence` gives the order.
   */
  onEvent: EventHandler<WebhookEvent>;
  onUnknownEvent?: undefined;
};

type SplitHandlerOptions = {
  /**
   * Called with each verified event that this version of the client knows. When it resolves, the response is a success and
   * the delivery is not retried: resolve once the event is stored, within 15 seconds. An event can arrive twice, with the
   * same `webhookId`, or before an earlier one: `event.sequence` gives the order.
   */
  onEvent: EventHandler<KnownWebhookEvent>;
  /** Called with the other events, which the service began to send later; without this option, `onEvent` gets them too. */
  onUnknownEvent: EventHandler<UnknownWebhookEvent>;
};

/** Options that separate the known events from the others. */
export type SeparatedWebhookOptions = CommonOptions & SplitHandlerOptions;

export type WebhookHandlerOptions = SeparatedWebhookOptions | (CommonOptions & SingleHandlerOptions);

/** The response of a handler. A refusal gives only its reason, because the sender is unknown. */
export type WebhookResponse = { status: 204 | 413 | 500 } | { status: 400; reason: WebhookRefusal };

/** Reads, verifies and passes on one delivery, and resolves with the response. Never rejects. */
export type RespondToWebhook = (
  headers: WebhookHeaders,
  readBody: () => Promise<string | Uint8Array>,
) => Promise<WebhookResponse>;

function handle(options: WebhookHandlerOptions, { event, webhookId }: VerifiedDelivery): unknown {
  if (!options.onUnknownEvent) return options.onEvent(event, webhookId);
  if (event.type === "unknown") return options.onUnknownEvent(event, webhookId);
  return options.onEvent(event, webhookId);
}

function toErrorResponse(error: unknown): WebhookResponse {
  if (error instanceof WebhookVerificationError) return { status: 400, reason: error.reason };
  if (error instanceof BodyTooLargeError) return { status: 413 };
  return { status: 500 }; // An error of the receiver, or an incomplete body: another attempt may succeed.
}
