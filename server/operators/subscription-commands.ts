import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Bound } from "../storage/acts.ts";
import type { Rotation } from "../storage/operators/rotate-secrets.ts";
import type {
  findSubscriptionMerchant,
  findSubscriptions,
  OperatorSubscription,
} from "../storage/operators/webhook-lists.ts";
import type { Store } from "../storage/store.ts";
import type { EncryptionKeys } from "../storage/webhooks/secrets.ts";
import type { ChangedSecret } from "../storage/webhooks/subscriptions.ts";
import { GUESSABLE_SECRET, isGuessable } from "../webhooks/sign-delivery.ts";
import { count, type Output, printTable } from "./output.ts";

export type SubscriptionOptions = {
  store: Pick<Store, "changeSecret" | "endSubscription"> &
    Bound<{
      findSubscriptions: typeof findSubscriptions;
      findSubscriptionMerchant: typeof findSubscriptionMerchant;
    }>;
  output: Output;
  now: () => Date;
};

const HEADINGS = ["subscriptionKey", "merchant", "host", "selects", "created", "waiting"];

/** Shows subscriptions, oldest first. */
export async function listSubscriptions(
  { store, output }: SubscriptionOptions,
  choice: { merchant?: string | undefined; limit: number },
): Promise<void> {
  const subscriptions = await store.findSubscriptions(choice);
  printTable(output, HEADINGS, subscriptions.map(toCells));
  if (subscriptions.length === choice.limit) output.complain("There may be more: raise --limit");
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
    subscription.waiting,
  ];
}

/**
 * Ends a subscription of any merchant.
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

/**
 * Replaces the secret of a subscription of any merchant. Deliveries carry signatures of both secrets until the overlap has
 * passed.
 * @param input the new secret, with or without a newline at its end
 * @returns whether it is the subscription's secret now
 */
export async function rotateSecret(
  {
    store,
    output,
    now,
    encryptionKeys,
    input,
  }: SubscriptionOptions & { encryptionKeys: EncryptionKeys; input: Readable },
  { subscriptionKey, overlapMs }: { subscriptionKey: string; overlapMs: number },
): Promise<boolean> {
  const bytes = await buffer(input);
  const secretKey = bytes.toString("utf8").replace(/\r?\n$/, "");
  const error = isUtf8(bytes) ? findSecretError(secretKey) : "must be UTF-8.";
  if (error) {
    output.complain(`The new secret ${error}`);
    return false;
  }
  const merchant = await store.findSubscriptionMerchant(subscriptionKey);
  const change = { merchant: merchant ?? "", subscriptionKey, secretKey, overlapMs, now: now() };
  const changed = await store.changeSecret(change, encryptionKeys);
  output.print(
    `${subscriptionKey}${merchant === undefined ? "" : ` of ${merchant}`}: ${describeChange(changed)}`,
  );
  const isCurrent = changed.kind === "changed" || changed.kind === "unchanged";
  if (isCurrent && isGuessable(secretKey)) output.complain(GUESSABLE_SECRET);
  return isCurrent;
}

const MAX_SECRET_CHARACTERS = 256;

/** What the contract says of a secretKey. */
function findSecretError(secretKey: string): string | undefined {
  if (secretKey === "") return "is empty: give it on standard input, or name a file that has it.";
  if ([...secretKey].length > MAX_SECRET_CHARACTERS)
    return `must have at most ${MAX_SECRET_CHARACTERS} characters.`;
  return secretKey.includes("\0") ? "must not contain U+0000." : undefined;
}

function describeChange({ kind, ...changed }: ChangedSecret): string {
  const until = "oldSecretUntil" in changed ? changed.oldSecretUntil?.toISOString() : undefined;
  const signs = until ? `the old one signs, too, until ${until}` : "it alone signs";
  switch (kind) {
    case "changed":
      return `has the new secret; ${signs}`;
    case "unchanged":
      return `had this secret already; ${signs}`;
    case "overlapping":
      return `unchanged, because two secrets sign already, the older one until ${until}. Wait, or end it at once with --overlap 0h`;
    case "not-live":
      return "there is no such live subscription";
  }
}

const ROTATED = "Once no server encrypts with an older key any more, ENCRYPTION_KEYS_OLD can go.";

/**
 * Says what became of the secrets of all subscriptions (D29).
 * @returns whether every secret could be read
 */
export function printRotation({ seen, rotated, unreadable }: Rotation, output: Output): boolean {
  const current = seen - rotated - unreadable.length;
  output.print(`${count(seen, "secret")}: ${rotated} encrypted anew, ${current} were current`);
  for (const subscriptionKey of unreadable)
    output.print(`${subscriptionKey}: none of the keys opens its secret`);
  if (unreadable.length === 0) output.print(ROTATED);
  else output.complain("Add the keys that encrypted these to ENCRYPTION_KEYS_OLD, and run it again.");
  return unreadable.length === 0;
}
