/* Everything for receivers of events, without the code that makes calls: the entry `@refund-contract/client/webhooks`. */

export {
  expressWebhookHandler,
  type IncomingWebhook,
  type OutgoingResponse,
} from "./webhooks/express-handler.ts";
export { fetchWebhookHandler } from "./webhooks/fetch-handler.ts";
export type { SeparatedWebhookOptions, WebhookHandlerOptions } from "./webhooks/handle-delivery.ts";
export type {
  KnownWebhookEvent,
  UnknownWebhookEvent,
  WebhookEvent,
  WebhookEventName,
  WebhookEventOf,
} from "./webhooks/parse-event.ts";
export { type SignedDelivery, type SignOptions, signWebhook } from "./webhooks/sign.ts";
export { type WebhookRefusal, WebhookVerificationError } from "./webhooks/verification-error.ts";
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookSecrets,
} from "./webhooks/verify.ts";
