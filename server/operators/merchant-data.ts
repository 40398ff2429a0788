import type { Bound } from "../storage/acts.ts";
import type * as merchantData from "../storage/operators/merchant-data.ts";
import type { ErasedPart, ErasedReference, MerchantPart } from "../storage/operators/merchant-data.ts";
import { count, type Output } from "./output.ts";

export type MerchantDataOptions = {
  store: Bound<typeof merchantData>;
  output: Output;
  /** Aborted when the operator interrupts. */
  signal: AbortSignal;
};

export type MerchantChoice = { merchant: string; before: Date };

/** Rows that are erased by one statement. */
const PART_SIZE = 500;

/**
 * Erases what is stored of a merchant and is older than the given time: finished deliveries, events with the callers who caused
 * them, ended subscriptions, who made the others, and what the merchant wrote into payments. Payments and refunds themselves stay, because they are the record of the money.
 * An interrupted run continues when the command is run again.
 * @returns whether everything that had to be erased has been erased
 */
export async function eraseMerchant({ store, output, signal }: MerchantDataOptions, choice: MerchantChoice) {
  async function eraseAll(erase: (part: MerchantPart) => Promise<ErasedPart>) {
    const total = { erased: 0, kept: 0 };
    let after: string | undefined = "";
    while (after !== undefined && !signal.aborted) {
      const part: ErasedPart = await erase({ ...choice, after, atMost: PART_SIZE });
      total.erased += part.erased;
      total.kept += part.kept;
      after = part.last;
    }
    return total;
  }
  await store.recordErasure(choice);
  // Events and subscriptions are erased after their deliveries.
  const deliveries = await eraseAll(store.eraseDeliveries);
  const events = await eraseAll(store.eraseEvents);
  const subscriptions = await eraseAll(store.eraseSubscriptions);
  const subscribers = await eraseAll(store.eraseSubscribers);
  const payments = await eraseAll(store.erasePaymentTexts);
  output.print(
    `${choice.merchant}: erased ${count(deliveries.erased, "delivery")}, ${count(events.erased, "event")}, ` +
      `${count(subscriptions.erased, "ended subscription")}, the texts of ${count(payments.erased, "payment")}, ` +
      `and who made ${count(subscribers.erased, "subscription")}`,
  );
  if (deliveries.kept > 0) {
    output.complain(
      `${count(deliveries.kept, "delivery")} stayed, because they are still to be made. Disable their subscriptions, and run it again.`,
    );
  }
  if (signal.aborted) output.complain("Interrupted. Run it again.");
  return deliveries.kept === 0 && !signal.aborted;
}

/**
 * Erases what a merchant's reference of a customer leads to, however new it is. It can be run again at any time.
 * @returns whether nothing of it had to stay
 */
export async function eraseCustomer(
  { store, output, signal }: MerchantDataOptions,
  { merchant, reference }: { merchant: string; reference: string },
): Promise<boolean> {
  const total = { deliveries: 0, events: 0, payments: 0, kept: 0 };
  let after: string | undefined = "";
  while (after !== undefined && !signal.aborted) {
    const { last, payments, ...part }: ErasedReference = await store.eraseReference({
      ...{ merchant, reference, after },
      atMost: PART_SIZE,
    });
    for (const name of ["deliveries", "events", "kept"] as const) total[name] += part[name];
    await store.recordErasedPayments({ merchant, payments });
    total.payments += await store.eraseReferencedTexts({ merchant, payments });
    after = last;
  }
  output.print(
    `${merchant}: erased ${count(total.deliveries, "delivery")}, ${count(total.events, "event")}, and the texts of ${count(total.payments, "payment")}`,
  );
  if (total.kept > 0) {
    output.complain(
      `${count(total.kept, "event")} stayed: deliveries of it are still to be made, or it is the newest of an account or a customer.`,
    );
  }
  if (signal.aborted) output.complain("Interrupted. Run it again.");
  return total.kept === 0 && !signal.aborted;
}
