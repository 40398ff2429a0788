export { type Client, type ClientOptions, createClient } from "./client.ts";
export { UnexpectedResponseError, type WebhookRefusal, WebhookVerificationError } from "./errors.ts";
export {
  expressWebhookHandler,
  type IncomingWebhook,
  type OutgoingAnswer,
} from "./express-webhook-handler.ts";
export { fetchWebhookHandler } from "./fetch-webhook-handler.ts";
export type {
  DuplicateRequestKeyProblem,
  InvalidRequestProblem,
  OperationId,
  Problem,
  Refund,
  RefundRequest,
  RefundStatus,
  RequestBody,
  Result,
  Subscription,
  SubscriptionRequest,
} from "./types.ts";
export type { WebhookHandlerOptions } from "./webhook-answer.ts";
export type {
  UnknownWebhookEvent,
  WebhookEvent,
  WebhookEventName,
  WebhookEventOf,
} from "./webhook-events.ts";
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from "./webhooks.ts";
