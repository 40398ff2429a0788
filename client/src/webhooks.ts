/* Everything for receivers of events, without the code that makes calls: the entry `@refund-contract/client/webhooks`. */

export { type WebhookRefusal, WebhookVerificationError } from "./webhooks/errors.ts";
export type {
  KnownWebhookEvent,
  UnknownWebhookEvent,
  WebhookEvent,
  WebhookEventName,
  WebhookEventOf,
} from "./webhooks/events.ts";
export {
  expressWebhookHandler,
  type IncomingWebhook,
  type OutgoingResponse,
} from "./webhooks/express-handler.ts";
export { fetchWebhookHandler } from "./webhooks/fetch-handler.ts";
export type { SeparatedWebhookOptions, WebhookHandlerOptions } from "./webhooks/response.ts";
export { type SignedDelivery, type SignOptions, signWebhook } from "./webhooks/sign.ts";
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  type WebhookSecrets,
} from "./webhooks/verify.ts";
