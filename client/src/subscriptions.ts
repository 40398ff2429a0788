import type { Call, CallOptions } from "./call.ts";
import { ProblemError } from "./errors.ts";
import type { Subscription, SubscriptionRequest } from "./types.ts";

export type SubscribeOptions = CallOptions & {
  /** The most attempts; the client's `maxAttempts` by default. */
  maxAttempts?: number;
};

export type Subscriptions = {
  /**
   * Registers an address for notifications. Retries after 429 only: each call creates another subscription, and only a 429
   * is certain to have created none. After an error whose `outcomeUnknown` is true, repeating the call can leave two
   * subscriptions that both deliver.
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
      const mayRepeat = (status: number | undefined) => status === 429;
      const repetition = { maxAttempts, mayRepeat, progress };
      const result = await call("subscribeToWebhooks", request, options, repetition);
      if (result.status === 200) return result.body;
      throw new ProblemError(result, progress);
    },
  };
}
