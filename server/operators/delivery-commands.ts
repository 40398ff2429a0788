import type { Bound } from "../storage/acts.ts";
import type {
  DeliveryFilter,
  findDeliveries,
  findDeliveryMerchant,
  OperatorDelivery,
} from "../storage/operators/webhook-lists.ts";
import type { Store } from "../storage/store.ts";
import { count, type Output, printTable } from "./output.ts";

export type DeliveryStore = Pick<Store, "redeliver"> &
  Bound<{ findDeliveries: typeof findDeliveries; findDeliveryMerchant: typeof findDeliveryMerchant }>;

export type DeliveryOptions = {
  store: DeliveryStore;
  output: Output;
  now: () => Date;
};

/** Selects deliveries; all of them without a merchant and a subscription. */
export type DeliveryChoice = { merchant?: string | undefined; subscriptionKey?: string | undefined };

const HEADINGS = [
  "webhookId",
  "merchant",
  "subscription",
  "event",
  "resource",
  "state",
  "attempts",
  "last attempt",
  "error",
];

/** Shows deliveries, newest first. */
export async function listDeliveries(
  { store, output }: DeliveryOptions,
  choice: DeliveryChoice & { filter: DeliveryFilter; limit: number },
): Promise<void> {
  const deliveries = await store.findDeliveries(choice);
  printTable(output, HEADINGS, deliveries.map(toCells));
  if (deliveries.length === choice.limit) output.complain("There may be more: raise --limit");
}

function toCells(delivery: OperatorDelivery) {
  return [
    delivery.webhookId,
    delivery.merchant,
    delivery.subscriptionKey,
    delivery.type,
    delivery.resourceId,
    delivery.state,
    delivery.attempts,
    delivery.lastAttemptAt?.toISOString() ?? null,
    delivery.lastError,
  ];
}

/**
 * Sends deliveries again, whatever their state. Nothing is sent to a subscription that has ended: its secret is gone.
 * @returns whether all of them will be sent
 */
export async function redeliver({ store, output, now }: DeliveryOptions, webhookIds: readonly string[]) {
  let missing = 0;
  for (const webhookId of webhookIds) {
    const merchant = await store.findDeliveryMerchant(webhookId);
    const delivery = merchant && (await store.redeliver({ merchant, webhookId, now: now() }));
    if (!delivery) missing += 1;
    const refusal = merchant ? "its subscription has ended" : "there is no such delivery";
    output.print(`${webhookId}: ${delivery ? "will be sent again" : refusal}`);
  }
  return missing === 0;
}

const PAGE_SIZE = 200;

/** Sends the exhausted deliveries of a merchant or a subscription again. */
export async function redeliverExhausted({ store, output, now }: DeliveryOptions, choice: DeliveryChoice) {
  let sent = 0;
  let before: string | undefined;
  try {
    for (;;) {
      const page = await store.findDeliveries({ ...choice, filter: "exhausted", before, limit: PAGE_SIZE });
      for (const { merchant, webhookId } of page) {
        if (await store.redeliver({ merchant, webhookId, now: now() })) sent += 1;
      }
      before = page.at(-1)?.webhookId;
      if (before === undefined) break;
    }
  } finally {
    output.print(`${count(sent, "delivery")} will be sent again.`);
  }
}
