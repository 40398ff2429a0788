import type { Bound } from "../storage/bind.ts";
import type {
  findSubscriptionMerchant,
  findSubscriptions,
  OperatorSubscription,
} from "../storage/operator-subscriptions.ts";
import type { storage } from "../storage/storage.ts";
import { type Output, toTable } from "./output.ts";

export interface SubscriptionOptions {
  store: Pick<Bound<typeof storage>, "endSubscription"> &
    Bound<{
      findSubscriptions: typeof findSubscriptions;
      findSubscriptionMerchant: typeof findSubscriptionMerchant;
    }>;
  output: Output;
  now: () => Date;
}

const HEADINGS = ["subscriptionKey", "merchant", "host", "selects", "created", "ended", "waiting"];

/** Shows subscriptions, oldest first. */
export async function listSubscriptions(
  { store, output }: SubscriptionOptions,
  choice: { merchant?: string | undefined; ended: boolean; after?: string | undefined; limit: number },
): Promise<void> {
  const subscriptions = await store.findSubscriptions(choice);
  if (subscriptions.length === 0) output.print("None.");
  else for (const line of toTable(HEADINGS, subscriptions.map(toCells))) output.print(line);
  const last = subscriptions.at(-1);
  if (last && subscriptions.length === choice.limit) {
    output.complain(`There may be more: add --after ${last.subscriptionKey}`);
  }
}

function toCells(subscription: OperatorSubscription) {
  const { type, details } = subscription;
  return [
    subscription.subscriptionKey,
    subscription.merchant,
    // Not the whole url: merchants put credentials into paths and queries.
    URL.parse(subscription.url)?.host ?? null,
    type === "ALL" ? "ALL" : `${type} ${details.join(",")}`,
    subscription.createdAt.toISOString(),
    subscription.endedAt?.toISOString() ?? null,
    subscription.waiting,
  ];
}

/**
 * Ends a subscription, whoever's it is.
 *
 * @returns whether there is such a subscription
 */
export async function disableSubscription(
  { store, output, now }: SubscriptionOptions,
  subscriptionKey: string,
): Promise<boolean> {
  const merchant = await store.findSubscriptionMerchant(subscriptionKey);
  if (merchant === undefined) {
    output.print(`${subscriptionKey}: there is no such subscription`);
    return false;
  }
  const ended = await store.endSubscription({ merchant, subscriptionKey, now: now() });
  const outcome = ended ? "disabled, and nothing more is sent to it" : "had ended already";
  output.print(`${subscriptionKey} of ${merchant}: ${outcome}`);
  return true;
}
