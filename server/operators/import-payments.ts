import { isInCalendar } from "../domain/business-days.ts";
import { toCents } from "../domain/money.ts";
import type { OriginalStatus } from "../domain/refund-rules.ts";
import type { Store } from "../storage/open-store.ts";
import type { TransitionResult } from "../storage/payments/original-transitions.ts";
import type { DebitRecord } from "../storage/payments/payment-record.ts";
import { feedLines, type LineStream } from "./apply-lines.ts";
import type { PaymentLine } from "./line-schemas.ts";
import { createLineParser, type LineError } from "./parse-json-line.ts";

/**
 * Applies lines about original payments (D25). Lines with the same payment or requestKey are applied in their order.
 * @returns whether every line was accepted
 */
export async function feedPayments({ store, now, ...stream }: PaymentsOptions): Promise<boolean> {
  const counts = await feedLines(stream, {
    results: ["applied", "unchanged"],
    parse: createLineParser<PaymentLine>("PaymentLine", "PutLine"),
    keysOf,
    apply: (line) => applyPayment(store, line, now()),
  });
  return counts !== undefined;
}

type PutLine = Extract<PaymentLine, { op: "put" }>;
type TransitionLine = Exclude<PaymentLine, { op: "put" }>;

type PaymentStore = Pick<Store, "insertPayment" | "transitionOriginal" | "getPayment" | "findByRequestKey">;

/** The result of a line; `unchanged` when it had been applied before. */
type Applied = "applied" | "unchanged" | LineError;

/** Applies a line of the payment system about an original payment (D25). Repeating it changes nothing, even after later lines about the same payment. */
async function applyPayment(store: PaymentStore, line: PaymentLine, now: Date): Promise<Applied> {
  if (line.op === "put") return put(store, line, now);
  if (line.op !== "settle")
    return toApplied(store, line, await store.transitionOriginal(line, { to: STATUS_OF[line.op], now }));
  const settledAt = new Date(line.settledAt);
  const error = settlementError(settledAt, now);
  if (error) return { error };
  return toApplied(store, line, await store.transitionOriginal(line, { to: "SETTLED", settledAt, now }));
}

async function put(store: PaymentStore, line: PutLine, now: Date): Promise<Applied> {
  const { merchant, paymentId, amount, requestKey = null, clientReferenceId = null } = line;
  const facts = { amountCents: toCents(amount.value), requestKey, clientReferenceId };
  const state = { status: "PROCESSING", settledAt: null, now, emitted: true } as const;
  if (await store.insertPayment({ merchant, paymentId, ...facts, ...state })) return "applied";

  const existing = await store.getPayment(line);
  if (!existing) return { error: await describeKeyHolder(store, merchant, requestKey) };
  if (existing.kind === "REFUND") return { error: "paymentId names a refund" };
  const differing = (["amountCents", "requestKey", "clientReferenceId"] as const).filter(
    (name) => existing[name] !== facts[name],
  );
  if (differing.length === 0) return "unchanged";
  const names = differing.map((name) => (name === "amountCents" ? "amount" : name)).join(", ");
  return { error: `the payment exists with another ${names}` };
}

async function describeKeyHolder(store: PaymentStore, merchant: string, requestKey: string | null) {
  const holder = requestKey === null ? undefined : await store.findByRequestKey({ merchant, requestKey });
  if (!holder)
    throw new Error("a payment was not stored, although no record has its paymentId or requestKey");
  return `requestKey is used by ${holder.paymentId}`;
}

function settlementError(settledAt: Date, now: Date): string | undefined {
  if (settledAt > now) return `settledAt lies after the present, which is ${now.toISOString()}`;
  return isInCalendar(settledAt) ? undefined : "settledAt must lie in the years 2020 to 2099";
}

const STATUS_OF = { settle: "SETTLED", fail: "FAILED", cover: "COVERED" } as const;

async function toApplied(
  store: PaymentStore,
  line: TransitionLine,
  result: TransitionResult,
): Promise<Applied> {
  if (result.kind === "changed") return "applied";
  const unknown = { error: "there is no such payment of this merchant; put it first" };
  if (result.kind === "not-found") return unknown;
  const payment = await store.getPayment(line);
  if (payment?.kind !== "DEBIT") return unknown;
  if (hasMade(payment, line)) return "unchanged";
  if (line.op === "settle" && hasBeen(payment, "SETTLED"))
    return { error: `the payment settled at another time, ${payment.settledAt?.toISOString()}` };
  return { error: `the payment is ${result.status} and can't become ${STATUS_OF[line.op]}` };
}

function hasMade(payment: DebitRecord, line: TransitionLine): boolean {
  if (!hasBeen(payment, STATUS_OF[line.op])) return false;
  return line.op !== "settle" || payment.settledAt?.getTime() === Date.parse(line.settledAt);
}

function hasBeen({ history }: DebitRecord, status: OriginalStatus): boolean {
  return history.some((entry) => entry.status === status);
}

type PaymentsOptions = LineStream & {
  store: PaymentStore;
  /** The domain's time. */
  now: () => Date;
};

function keysOf(line: PaymentLine): string[] {
  const payment = JSON.stringify([line.merchant, "payment", line.paymentId]);
  if (line.op !== "put" || line.requestKey === undefined) return [payment];
  return [payment, JSON.stringify([line.merchant, "key", line.requestKey])];
}
