import { isUtf8 } from "node:buffer";
import { buffer } from "node:stream/consumers";
import { type Command, Option } from "commander";
import type { ChangedSecret } from "../storage/webhooks/change-secret.ts";
import { createEncryptionKeys } from "../storage/webhooks/secret-encryption.ts";
import { GUESSABLE_SECRET, isGuessable } from "../webhooks/secret-strength.ts";
import {
  type AdminContext,
  limitOption,
  openClock,
  overlapOption,
  type RunWork,
  readInput,
} from "./command-context.ts";
import { count, type Output, printTable } from "./command-output.ts";
import { rotateSecrets } from "./statements/reencrypt-secrets.ts";
import {
  DELIVERY_FILTERS,
  type DeliveryWish,
  findDeliveries,
  findMerchant,
  findSubscriptions,
} from "./statements/webhook-lists.ts";

/** Defines the commands that list deliveries and send them again. */
export function defineDeliveries(program: Command, run: RunWork): void {
  program
    .command("deliveries")
    .description("list deliveries of webhooks, newest first")
    .addOption(new Option("--state <state>").choices(Object.keys(DELIVERY_FILTERS)).default("exhausted"))
    .option("--merchant <merchant>")
    .option("--subscription <subscriptionKey>")
    .addOption(limitOption())
    .action((options: Choice & { state: DeliveryWish["filter"]; limit: number }) =>
      run(async ({ database, output }) => {
        const { state: filter, subscription: subscriptionKey, ...choice } = options;
        const deliveries = await findDeliveries(database.db, { ...choice, filter, subscriptionKey });
        const rows = deliveries.map(({ lastAttemptAt, lastError, ...delivery }) => {
          const { webhookId, merchant, subscriptionKey, type, resourceId, state, attempts } = delivery;
          const names = [webhookId, merchant, subscriptionKey, type, resourceId, state];
          return [...names, attempts, lastAttemptAt?.toISOString() ?? null, lastError];
        });
        printTable(output, DELIVERY_HEADINGS, rows);
        hintAtMore(output, rows, options.limit);
        return true;
      }),
    );

  program
    .command("redeliver")
    .argument("[webhookIds...]")
    .description("send deliveries again, whatever their state")
    .option("--exhausted", "all exhausted deliveries", false)
    .option("--merchant <merchant>", "with --exhausted: of this merchant")
    .option("--subscription <subscriptionKey>", "with --exhausted: of this subscription")
    .action(async (webhookIds: string[], options: Choice & { exhausted: boolean }, command: Command) => {
      if (options.exhausted === webhookIds.length > 0)
        command.error("error: redeliver takes either webhookIds or --exhausted");
      await run((context) =>
        options.exhausted ? redeliverExhausted(context, options) : redeliver(context, webhookIds),
      );
    });
}

type Choice = { merchant?: string; subscription?: string };

const DELIVERY_HEADINGS = [
  ...["webhookId", "merchant", "subscription", "event", "resource"],
  ...["state", "attempts", "last attempt", "error"],
];

function hintAtMore(output: Output, rows: readonly unknown[], limit: number): void {
  if (rows.length === limit) output.complain("There may be more: raise --limit");
}

/**
 * Sends deliveries again, whatever their state. Nothing is sent to a subscription that has ended: its secret is gone.
 * @returns whether all of them will be sent
 */
async function redeliver(context: AdminContext, webhookIds: readonly string[]): Promise<boolean> {
  const { database, store, output } = context;
  const now = await openClock(context);
  let missing = 0;
  for (const webhookId of webhookIds) {
    const merchant = await findMerchant(database.db, "deliveries", webhookId);
    const delivery = merchant && (await store.redeliver({ merchant, webhookId, now: now() }));
    if (!delivery) missing += 1;
    const refusal = merchant ? "its subscription has ended" : "there is no such delivery";
    output.print(`${webhookId}: ${delivery ? "will be sent again" : refusal}`);
  }
  return missing === 0;
}

const PAGE_SIZE = 200;

/** Sends the exhausted deliveries of a merchant, of a subscription, or all, again. */
async function redeliverExhausted(context: AdminContext, { merchant: only, subscription }: Choice) {
  const { database, store, output } = context;
  const now = await openClock(context);
  const wish = {
    filter: "exhausted",
    merchant: only,
    subscriptionKey: subscription,
    limit: PAGE_SIZE,
  } as const;
  let sent = 0;
  try {
    let page = await findDeliveries(database.db, wish);
    while (page.length > 0) {
      for (const { merchant, webhookId } of page)
        if (await store.redeliver({ merchant, webhookId, now: now() })) sent += 1;
      page = await findDeliveries(database.db, { ...wish, before: page.at(-1)?.webhookId });
    }
  } finally {
    output.print(`${count(sent, "delivery")} will be sent again.`);
  }
  return true;
}

/** Defines the commands that list subscriptions, end them, and change their secrets and the key of these. */
export function defineSubscriptions(program: Command, run: RunWork): void {
  const subscriptions = program
    .command("subscriptions")
    .alias("subscription")
    .description("list live subscriptions, oldest first, or change one")
    .option("--merchant <merchant>")
    .addOption(limitOption())
    .action((choice: { merchant?: string; limit: number }) =>
      run(async ({ database, output }) => {
        const found = await findSubscriptions(database.db, choice);
        const rows = found.map(({ subscriptionKey, merchant, url, type, details, createdAt, waiting }) => {
          // Without path and query, because merchants put credentials into them.
          const host = URL.parse(url)?.host ?? null;
          const selects = type === "ALL" ? "ALL" : `${type} ${details.join(",")}`;
          return [subscriptionKey, merchant, host, selects, createdAt.toISOString(), waiting];
        });
        const headings = ["subscriptionKey", "merchant", "host", "selects", "created", "waiting"];
        printTable(output, headings, rows);
        hintAtMore(output, rows, choice.limit);
        return true;
      }),
    );

  subscriptions
    .command("disable")
    .argument("<subscriptionKey>")
    .description("end a subscription and its waiting deliveries")
    .action((subscriptionKey: string) => run((context) => disable(context, subscriptionKey)));

  subscriptions
    .command("rotate-secret")
    .argument("<subscriptionKey>")
    .argument("[file]", "with the new secret; standard input if left out")
    .description("replace a secret; for a time, deliveries carry signatures of the old one, too")
    .addOption(overlapOption())
    .action((subscriptionKey: string, file: string | undefined, { overlap }: { overlap: number }) =>
      run((context) => rotateSecret(context, file, { subscriptionKey, overlapMs: overlap })),
    );

  program
    .command("rotate-key")
    .description("encrypt with the present key every secret that an earlier one has encrypted")
    .action(() => run(rotateKey));
}

/** @returns whether there is such a subscription, of any merchant */
async function disable(context: AdminContext, subscriptionKey: string): Promise<boolean> {
  const { database, store, output } = context;
  const merchant = await findMerchant(database.db, "subscriptions", subscriptionKey);
  if (merchant === undefined) {
    output.print(`${subscriptionKey}: there is no such subscription`);
    return false;
  }
  const now = (await openClock(context))();
  const wasLive = await store.endSubscription({ merchant, subscriptionKey, now });
  const outcome = wasLive ? "disabled, and nothing more is sent to it" : "had ended already";
  output.print(`${subscriptionKey} of ${merchant}: ${outcome}`);
  return true;
}

/**
 * Replaces the secret of a subscription of any merchant. Deliveries carry signatures of both secrets until the overlap has
 * passed.
 * @param file has the new secret, with or without a newline at its end
 * @returns whether it is the subscription's secret now
 */
async function rotateSecret(
  context: AdminContext,
  file: string | undefined,
  { subscriptionKey, overlapMs }: { subscriptionKey: string; overlapMs: number },
): Promise<boolean> {
  const { database, store, settings, output } = context;
  const encryptionKeys = createEncryptionKeys(settings.requireEncryptionKeys());
  const bytes = await buffer(readInput(context, file));
  const secretKey = bytes.toString("utf8").replace(/\r?\n$/, "");
  const error = isUtf8(bytes) ? findSecretError(secretKey) : "must be UTF-8.";
  if (error) {
    output.complain(`The new secret ${error}`);
    return false;
  }
  const merchant = await findMerchant(database.db, "subscriptions", subscriptionKey);
  const now = (await openClock(context))();
  const change = { merchant: merchant ?? "", subscriptionKey, secretKey, overlapMs, now };
  const changed = await store.changeSecret(change, encryptionKeys);
  const name = merchant === undefined ? subscriptionKey : `${subscriptionKey} of ${merchant}`;
  output.print(`${name}: ${describeChange(changed)}`);
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

/**
 * Encrypts the secrets of all subscriptions with the present key (D29).
 * @returns whether every secret could be read
 */
async function rotateKey({ database, settings, output }: AdminContext): Promise<boolean> {
  const keys = createEncryptionKeys(settings.requireEncryptionKeys());
  const { seen, rotated, unreadable } = await rotateSecrets(database.db, keys);
  const current = seen - rotated - unreadable.length;
  output.print(`${count(seen, "secret")}: ${rotated} encrypted anew, ${current} were current`);
  for (const subscriptionKey of unreadable)
    output.print(`${subscriptionKey}: none of the keys opens its secret`);
  if (unreadable.length > 0)
    output.complain("Add the keys that encrypted these to ENCRYPTION_KEYS_OLD, and run it again.");
  else output.print("Once no server encrypts with an older key any more, ENCRYPTION_KEYS_OLD can go.");
  return unreadable.length === 0;
}
