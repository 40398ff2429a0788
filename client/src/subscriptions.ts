import type { Call, CallOptions } from "./call.ts";
import { ProblemError } from "./errors.ts";
import type { Subscription, SubscriptionRequest } from "./types.ts";

/** The options of `webhooks.subscribe`. */
export type SubscribeOptions = CallOptions & {
  /** The most attempts; the client's `maxAttempts` by default. */
  maxAttempts?: number;
};

export type Subscriptions = {
  /**
   * Registers an address for notifications. Retries like a refund, which is safe because a call that equals a live subscription
   * resolves with the key of that one. So after an error whose `outcomeUnknown` is true, subscribe again with the same fields.
   *
   * @throws ProblemError for a problem: a field is wrong, there are 100 subscriptions already…
   * @throws NetworkError, TimeoutError, UnexpectedResponseError without a valid response
   */
  subscribe(request: SubscriptionRequest, options?: SubscribeOptions): Promise<Subscription>;
};

export function createSubscriptions(call: Call): Subscriptions {
  return {
    async subscribe(request, { maxAttempts, ...options } = {}) {
      const progress = { attempts: 0, outcomeUnknown: false };
      const result = await call("subscribeToWebhooks", request, options, { maxAttempts, progress });
      if (result.status === 200) return result.body;
      throw new ProblemError(result, progress);
    },
  };
}
