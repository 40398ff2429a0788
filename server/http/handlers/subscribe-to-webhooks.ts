import type { DomainClock } from "../../domain/clock.ts";
import type { Bound } from "../../storage/bind.ts";
import type { insertSubscription } from "../../storage/subscriptions.ts";
import type { Handler, RequestBody } from "../operations.ts";

/** What subscribing needs. */
export interface SubscribeParts {
  store: Bound<{ insertSubscription: typeof insertSubscription }>;
  clock: DomainClock;
  /** The form in which a secret is stored (D29). */
  encrypt(merchant: string, secret: string): Buffer;
}

/** Subscribes to webhooks: 200 with a new key, 409 when there are too many (D26). */
export function subscribeToWebhooks({
  store,
  clock,
  encrypt,
}: SubscribeParts): Handler<"subscribeToWebhooks"> {
  return async ({ merchant, body }) => {
    const saved = await store.insertSubscription({
      merchant,
      url: body.url,
      secretCiphertext: encrypt(merchant, body.secretKey),
      type: body.subscriptionDetails.type,
      details: toDetails(body.subscriptionDetails),
      now: await clock.now(),
    });
    return saved === "limit" ? { code: "SUBSCRIPTION_LIMIT" } : { status: 200, body: saved };
  };
}

/** A repeated name counts once; with `ALL` the list is ignored (D03). */
function toDetails(subscription: RequestBody<"subscribeToWebhooks">["subscriptionDetails"]): string[] {
  return subscription.type === "ALL" ? [] : [...new Set<string>(subscription.details)];
}
