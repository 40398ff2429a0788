import type { Handler, RequestBody } from "../contract/operation-types.ts";
import type { Violation } from "../contract/problem.ts";
import type { DomainClock } from "../domain/domain-time.ts";
import type { StoreFunctions } from "../storage/store-functions.ts";
import type { EncryptionKeys } from "../storage/webhooks/secret-encryption.ts";

/** Subscribes to webhooks: 200 with a new key or that of an equal live subscription, 409 when there are too many (D26). */
export function subscribeToWebhooks({
  store,
  clock,
  keys,
  inspect,
}: SubscribeParts): Handler<"subscribeToWebhooks"> {
  return async ({ merchant, caller, body, timeLimit }) => {
    const secretCiphertext = await keys.encrypt(merchant, body.secretKey);
    // A subscription that is stored after its call has timed out would have a key that nobody knows.
    timeLimit.signal.throwIfAborted();
    const saved = await store.insertSubscription({
      merchant,
      url: body.url,
      secretCiphertext,
      // A secret that no configured key decrypts can't be compared, so it counts as another one.
      isSecret: async (stored) =>
        (await keys.decrypt(merchant, stored).catch(() => undefined)) === body.secretKey,
      type: body.subscriptionDetails.type,
      details: toDetails(body.subscriptionDetails),
      now: await clock.now(),
      caller,
    });
    if (saved === "limit") return { code: "SUBSCRIPTION_LIMIT" };
    const { subscriptionKey, isNew } = saved;
    if (isNew) inspect(body, { merchant, subscriptionKey });
    return { status: 200, body: { subscriptionKey } };
  };
}

export type SubscribeParts = {
  store: Pick<StoreFunctions, "insertSubscription">;
  clock: DomainClock;
  /** For secrets, which are stored encrypted (D29). */
  keys: Pick<EncryptionKeys, "encrypt" | "decrypt">;
  /** Called with a new subscription; warns of a guessable secret, and of a URL to which deliveries would fail. Both are accepted. */
  inspect(
    request: Pick<RequestBody<"subscribeToWebhooks">, "url" | "secretKey">,
    subscription: { merchant: string; subscriptionKey: string },
  ): void;
};

/** A repeated name counts once; with `ALL` the list is ignored (D03). */
function toDetails(subscription: RequestBody<"subscribeToWebhooks">["subscriptionDetails"]): string[] {
  return subscription.type === "ALL" ? [] : [...new Set<string>(subscription.details)];
}

/**
 * The delivery URL must be one that this server delivers to (D24).
 *
 * @param findError returns why a URL is refused, or undefined when it is accepted. It is not called for one that has a violation
 *   already, because reading a very long host outside of ASCII takes longer than a refund
 */
export function checkTarget(
  findError: (url: string) => string | undefined,
): (body: unknown, known: ReadonlySet<string>) => Violation[] {
  return (body, known) => {
    if (known.has("/url")) return [];
    const { url } = (body ?? {}) as Partial<Record<string, unknown>>;
    const message = typeof url === "string" ? findError(url) : undefined;
    return message === undefined ? [] : [{ pointer: "/url", message }];
  };
}
