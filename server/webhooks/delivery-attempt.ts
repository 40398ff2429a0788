import { toOutcome } from "../domain/delivery-outcome.ts";
import type { Attempt } from "../storage/webhooks/claim-deliveries.ts";
import type { AttemptResult } from "../storage/webhooks/record-attempts.ts";
import type { NameResolver } from "./dns-resolver.ts";
import { failed, type SendOptions, type SendResult, send, type WebhookRequest } from "./send-request.ts";
import { type SigningSecret, toDeliveryHeaders } from "./sign-delivery.ts";

/** Signs and sends a delivery once, and decides what follows (D22, D23). Never rejects. */
export async function makeAttempt(
  attempt: Attempt,
  options: AttemptOptions,
  toRequest: ToRequest = toSignedRequest,
): Promise<MadeAttempt> {
  const at = options.realNow();
  const startedMs = performance.now();
  const { merchant, url } = attempt;
  const { secretKeys, resolver } = options;
  const resolve = (hostname: string) => resolver.resolve(hostname, merchant);
  const { status, error, retryAfter, bodyStart, timedOut } = secretKeys
    ? await send({ url, ...toRequest(attempt, at, secretKeys) }, { ...options, resolve })
    : failed("the secretKey can't be read");
  return {
    at,
    status: status !== null && status <= MAX_STATUS ? status : null,
    error,
    milliseconds: Math.round(performance.now() - startedMs),
    bodyStart,
    timedOut,
    outcome: toOutcome({ status, success: error === null, retryAfter }, attempt.earlierAttempts + 1, {
      random: options.random(),
      realNow: options.realNow(),
    }),
  };
}

export type AttemptOptions = Omit<SendOptions, "resolve"> & {
  readonly resolver: Pick<NameResolver, "resolve">;
  /** The secrets that sign the delivery; undefined when they can't be read. */
  readonly secretKeys: readonly SigningSecret[] | undefined;
  /** Real time. */
  readonly realNow: () => Date;
  /** From 0 up to 1. */
  readonly random: () => number;
};

export type MadeAttempt = AttemptResult & Pick<SendResult, "timedOut">;

export type ToRequest = (
  attempt: Attempt,
  at: Date,
  secretKeys: readonly SigningSecret[],
) => Pick<WebhookRequest, "headers" | "body">;

/** Makes attempts instead of `makeAttempt`, as a sandbox does. */
export type AttemptsOf = {
  makeAttempt(attempt: Attempt, options: AttemptOptions): Promise<MadeAttempt>;
};

/** HTTP defines no larger status; such a response counts as one without a status. */
const MAX_STATUS = 599;

export const toSignedRequest: ToRequest = (attempt, at, secretKeys) => ({
  headers: toDeliveryHeaders(attempt, at, secretKeys),
  body: attempt.payload,
});
