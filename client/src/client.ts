import { OPERATIONS } from "../../openapi/generated/values.ts";
import { type CallOptions, type ClientOptions, createCall } from "./call.ts";
import { createRefunds, type Refunds } from "./refunds.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";
import type { Input, OperationId, Result } from "./types.ts";

/** A client of the service. */
export type Client = Operations & {
  /** Issues refunds: each call resolves with the refund, and is retried when that is safe. */
  readonly refunds: Refunds;
  /** Subscribes to webhooks: each call resolves with the subscription. */
  readonly webhooks: Subscriptions;
};

/** One function for each operation: a call sends one request, and resolves with the response, whatever its status. */
export type Operations = {
  [Id in OperationId]: (input: Input<Id>, options?: CallOptions) => Promise<Result<Id>>;
};

/**
 * Creates a client of the service. A call that gets no valid response throws one of these errors.
 * @throws NetworkError, TimeoutError without a complete response (in time)
 * @throws UnexpectedResponseError for a response that is not the service's, such as a page of a proxy or a redirect
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:3000", accessToken: "sandbox_acme" });
 * const refund = await client.refunds.issue({
 *   paymentId: "pay_settled",
 *   amount: "19.99",
 *   requestKey: "refund-1042-1",
 * });
 * console.log(refund.paymentStatus);
 */
export function createClient(options: ClientOptions): Client {
  const call = createCall(options);
  const operations = Object.keys(OPERATIONS).map((id) => [id, call.bind(null, id as OperationId)]);
  return {
    ...(Object.fromEntries(operations) as Operations),
    refunds: createRefunds(call),
    webhooks: createSubscriptions(call),
  };
}
