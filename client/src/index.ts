export { type Client, type ClientOptions, createClient } from "./client.ts";
export { UnexpectedResponseError } from "./errors.ts";
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
