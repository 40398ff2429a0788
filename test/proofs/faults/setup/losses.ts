/** Compares the responses that callers got with the database: is a refund lost, doubled or changed? */
import pLimit from "p-limit";
import { expect, vi } from "vitest";
import { type Duplicate, dollars, type Refund } from "../../../helpers/factories.ts";
import type { Receiver } from "../../../helpers/receiver.ts";
import { sandboxOf } from "../../../helpers/sandbox.ts";
import { type Ledger, send } from "./load.ts";

type Server = { readonly url: string };

/** Calls at a time, because this is not a load test. */
const FEW = pLimit(4);

/** Losses by kind, each with the keys or ids concerned; all must be empty. */
export type Losses = {
  /** Acknowledged, but missing or different. */
  readonly lost: string[];
  /** Keys with two records, duplicate records or events, and reserved cents without a refund. */
  readonly doubled: string[];
};

/**
 * Compares a recovered server with the callers' knowledge, and repeats the requests without a response: 201 means that the
 * refund did not exist, 409 that it did. Either way it is acknowledged from now on.
 * @returns how many requests without a useful response had created a refund
 */
export async function repeatUnknown(server: Server, ledger: Ledger): Promise<number> {
  let cameThrough = 0;
  await FEW.map(ledger.unknown.values(), async (request) => {
    const response = await send<Refund & Duplicate>(server.url, "/v1/refunds", request, ledger.token);
    if (response?.status !== 201 && response?.status !== 409) {
      ledger.wrong.push(`${response?.status} for a repeat`);
      return;
    }
    if (response.status === 409) cameThrough += 1;
    const { body } = response;
    ledger.acknowledged.set(request.requestKey, response.status === 201 ? body : toExisting(body));
    ledger.unknown.delete(request.requestKey);
  });
  return cameThrough;
}

/** Ends every subscription that was acknowledged; those that can't be ended count as lost. */
export async function endSubscriptions(server: Server, ledger: Ledger): Promise<string[]> {
  const lost: string[] = [];
  const sandbox = sandboxOf(server, ledger.token);
  await FEW.map(ledger.subscriptions, async (subscriptionKey) => {
    const { status } = await sandbox("endSubscription", { path: { subscriptionKey } });
    if (status !== 204) lost.push(subscriptionKey);
    ledger.subscriptions.delete(subscriptionKey);
  });
  return lost;
}

/** Compares the outcomes that callers recorded with all stored records, and with the deliveries that arrived. */
export async function countLosses(server: Server, ledger: Ledger, receiver: Receiver): Promise<Losses> {
  const records = await readRefunds(server, ledger);
  const { lost, doubled } = compareRefunds(ledger, records);
  lost.push(...(await endSubscriptions(server, ledger)));

  const { body } = await sandboxOf(server, ledger.token)("getPayment", {
    path: { paymentId: ledger.paymentId },
  });
  const { amount, refundableAmount } = body as Extract<typeof body, { kind: "DEBIT" }>;
  const reservedCents = Math.round((amount.value - refundableAmount.value) * 100);
  if (reservedCents !== records.length) doubled.push(`${reservedCents} cents for ${records.length} refunds`);

  const idsOf = await allEventIds(receiver, records);
  for (const { paymentId } of records) {
    const ids = idsOf.get(paymentId)?.size ?? 0;
    if (ids === 0) lost.push(`event of ${paymentId}`);
    if (ids > 1) doubled.push(`event of ${paymentId}`);
  }
  return { lost, doubled };
}

type StoredRefund = { readonly paymentId: string; readonly requestKey: string | null };

/** Compares what callers know of refunds with those that are stored. */
function compareRefunds({ acknowledged }: Ledger, records: readonly StoredRefund[]): Losses {
  const byKey = Map.groupBy(records, ({ requestKey }) => requestKey ?? "");
  const isStored = ([requestKey, { paymentId }]: [string, Refund]) =>
    byKey.get(requestKey)?.some((record) => record.paymentId === paymentId);
  const isDoubled = ([requestKey, held]: [string, readonly unknown[]]) =>
    held.length > 1 || !acknowledged.has(requestKey);
  return {
    lost: [...acknowledged].filter((entry) => !isStored(entry)).map(([requestKey]) => requestKey),
    doubled: [...byKey].filter(isDoubled).map(([requestKey]) => requestKey),
  };
}

/** The webhook ids of each refund's events, as soon as every refund has one, or when nothing has arrived for a long time. */
async function allEventIds(receiver: Receiver, records: readonly { paymentId: string }[]) {
  const read = () => {
    const ids = new Map<unknown, Set<string>>();
    for (const { event, webhookId } of receiver.received) {
      const { paymentId } = event.data;
      ids.set(paymentId, (ids.get(paymentId) ?? new Set()).add(webhookId));
    }
    return ids;
  };
  const complete = () => {
    const ids = read();
    if (!records.every(({ paymentId }) => ids.has(paymentId))) throw new Error("not all have come");
  };
  // Longer than the lease of a killed server's deliveries.
  await vi.waitFor(complete, { timeout: 90_000, interval: 200 }).catch(() => {});
  return read();
}

async function readRefunds(server: Server, { paymentId, token }: Ledger) {
  const records: { paymentId: string; requestKey: string }[] = [];
  let cursor: string | null | undefined;
  do {
    const query = { kind: "REFUND", limit: 100, ...(cursor && { cursor }) };
    const { body } = await sandboxOf(server, token)("listPayments", { query });
    for (const item of body.items) {
      if (item.kind === "REFUND" && item.originalPaymentId === paymentId) records.push(item);
    }
    cursor = body.nextCursor;
  } while (cursor);
  return records;
}

function toExisting({ existing }: Duplicate): Refund {
  const refund = existing as Refund & { amount: unknown };
  expect(refund.amount).toEqual(dollars(0.01)); // or else another refund has the key
  return refund;
}
