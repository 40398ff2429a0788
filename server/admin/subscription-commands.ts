import type { Bound, BoundStorage } from "../storage/storage.ts";
import type {
  findSubscriptionMerchant,
  findSubscriptions,
  OperatorSubscription,
} from "../storage/webhooks/admin-queries.ts";
import type { Rotation } from "../storage/webhooks/rotate-secrets.ts";
import { count, type Output, startProgress, toTable } from "./output.ts";

export type SubscriptionOptions = {
  store: Pick<BoundStorage, "endSubscription"> &
    Bound<{
      findSubscriptions: typeof findSubscriptions;
      findSubscriptionMerchant: typeof findSubscriptionMerchant;
    }>;
  output: Output;
  now: () => Date;
};

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
    // Without path and query, because merchants put credentials into them.
    URL.parse(subscription.url)?.host ?? null,
    type === "ALL" ? "ALL" : `${type} ${details.join(",")}`,
    subscription.createdAt.toISOString(),
    subscription.endedAt?.toISOString() ?? null,
    subscription.waiting,
  ];
}

/**
 * Ends a subscription of any merchant.
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

const ROTATED = "Once no server encrypts with an older key any more, ENCRYPTION_KEYS_OLD can go.";

/**
 * Encrypts the secret of every subscription with the first key (D29).
 *
 * @returns whether every secret could be read
 */
export async function rotateKey(
  rotate: (onBatch: (rotation: Rotation) => void) => Promise<Rotation>,
  output: Output,
): Promise<boolean> {
  let seen = 0;
  const progress = startProgress(output, () => count(seen, "secret"));
  try {
    const {
      rotated,
      unreadable,
      seen: all,
    } = await rotate((rotation) => {
      seen = rotation.seen;
    });
    const current = all - rotated - unreadable.length;
    output.print(`${count(all, "secret")}: ${rotated} encrypted anew, ${current} were current`);
    for (const subscriptionKey of unreadable)
      output.print(`${subscriptionKey}: none of the keys opens its secret`);
    if (unreadable.length === 0) output.print(ROTATED);
    else output.complain("Add the keys that encrypted these to ENCRYPTION_KEYS_OLD, and run it again.");
    return unreadable.length === 0;
  } finally {
    progress.stop();
  }
}
