import type { Call, CallOptions } from "./call.ts";
import { ProblemError } from "./errors.ts";
import type { Subscription, SubscriptionRequest } from "./types.ts";

export interface SubscribeOptions extends CallOptions {
  /** How often a request is sent at most; the client's `maxAttempts` unless given. */
  maxAttempts?: number;
}

export interface Subscriptions {
  /**
   * Registers an address for notifications. Repeats the call after 429 only: each call makes another subscription, and
   * nothing else says for certain that it made none. After an error whose `outcomeUnknown` is true, a repeat can leave two
   * subscriptions, which both deliver.
   *
   * @throws ProblemError for a problem: a field is wrong, there are 100 subscriptions already…
   * @throws NetworkError, TimeoutError, UnexpectedResponseError without a response of the service
   */
  subscribe(request: SubscriptionRequest, options?: SubscribeOptions): Promise<Subscription>;
}

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
