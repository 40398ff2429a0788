import { BodyTooLargeError } from "./bytes.ts";
import { type WebhookRefusal, WebhookVerificationError } from "./errors.ts";
import type { WebhookEvent } from "./webhook-events.ts";
import { createSign } from "./webhook-signature.ts";
import {
  type VerifiedDelivery,
  type VerifyOptions,
  verifyDelivery,
  type WebhookHeaders,
} from "./webhooks.ts";

export interface WebhookHandlerOptions extends VerifyOptions {
  /** The one given when subscribing. */
  secretKey: string;
  /**
   * Hears each event that was verified. The delivery is answered with success when it resolves, and so is not repeated:
   * resolve once the event is stored, within 15 seconds. An event may come twice, with the same `webhookId`, and before
   * an earlier one: `event.sequence` tells the order.
   */
  onEvent: (event: WebhookEvent, webhookId: string) => unknown;
  /**
   * Hears why a delivery was not accepted: a `WebhookVerificationError`, or what `onEvent` threw. Prints with
   * `console.error` unless given.
   */
  onError?: (error: unknown) => void;
}

/** What a handler answers. A refusal tells its reason and no more: nobody knows who is asking. */
export type WebhookAnswer = { status: 204 | 413 | 500 } | { status: 400; reason: WebhookRefusal };

/** Reads, verifies and hands on one delivery, and finds its answer. Rejects only when `onError` throws. */
export type AnswerWebhook = (
  headers: WebhookHeaders,
  readBody: () => Promise<string | Uint8Array>,
) => Promise<WebhookAnswer>;

/** @throws TypeError when `secretKey` is missing: at the start, and not with the first delivery */
export function createAnswer({
  secretKey,
  onEvent,
  onError,
  ...verify
}: WebhookHandlerOptions): AnswerWebhook {
  const sign = createSign(secretKey);
  const refuse = (error: unknown, answer: WebhookAnswer): WebhookAnswer => {
    if (onError) onError(error);
    else console.error(error);
    return answer;
  };
  return async (headers, readBody) => {
    let delivery: VerifiedDelivery;
    try {
      delivery = verifyDelivery(await readBody(), headers, sign, verify);
    } catch (error) {
      return refuse(error, toAnswer(error));
    }
    try {
      await onEvent(delivery.event, delivery.webhookId);
      return { status: 204 };
    } catch (error) {
      return refuse(error, { status: 500 });
    }
  };
}

function toAnswer(error: unknown): WebhookAnswer {
  if (error instanceof WebhookVerificationError) return { status: 400, reason: error.reason };
  if (error instanceof BodyTooLargeError) return { status: 413 };
  return { status: 500 }; // The receiver's own fault, or a body that broke off: worth another attempt.
}
