export type { AmountInput, Dollars } from "./amount.ts";
export type { CallOptions, ClientOptions } from "./call.ts";
export { type Client, createClient, type Operations } from "./client.ts";
export type { Clock } from "./clock.ts";
export {
  CallError,
  type CallProgress,
  InvalidAmountError,
  NetworkError,
  ProblemError,
  TimeoutError,
  UnexpectedResponseError,
} from "./errors.ts";
export type { IssueRefundOptions, IssueRefundRequest, Refunds } from "./refunds.ts";
export { newRequestKey } from "./request-key.ts";
export type { AttemptReport } from "./retry.ts";
export type { Fetch } from "./send-once.ts";
export type { SubscribeOptions, Subscriptions } from "./subscriptions.ts";
export type {
  Amount,
  DuplicateRequestKeyProblem,
  ExistingRecord,
  InvalidRequestProblem,
  IssuedRefund,
  LaterStatus,
  OperationId,
  Problem,
  ProblemErrorCode,
  Refund,
  RefundErrorDetails,
  RefundRequest,
  RefundStatus,
  RequestBody,
  Result,
  Subscription,
  SubscriptionRequest,
  Violation,
} from "./types.ts";
export * from "./webhooks.ts";
