/* What a receiver of events needs, and nothing that makes calls: the entry `@refund-contract/client/webhooks`. */
export {
  expressWebhookHandler,
  type IncomingWebhook,
  type OutgoingAnswer,
} from "./express-webhook-handler.ts";
export { fetchWebhookHandler } from "./fetch-webhook-handler.ts";
export { type SignedDelivery, type SignOptions, signWebhook } from "./sign-webhook.ts";
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from "./verify-webhook.ts";
export type { SeparatedWebhookOptions, WebhookHandlerOptions } from "./webhook-answer.ts";
export { type WebhookRefusal, WebhookVerificationError } from "./webhook-errors.ts";
export type {
  KnownWebhookEvent,
  UnknownWebhookEvent,
  WebhookEvent,
  WebhookEventName,
  WebhookEventOf,
} from "./webhook-events.ts";
export type { WebhookSecrets } from "./webhook-secrets.ts";
