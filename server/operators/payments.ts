import type { ContractDocument } from "../contract/document.ts";
import { isInCalendar } from "../domain/business-days.ts";
import { toCents } from "../domain/money.ts";
import type { OriginalStatus } from "../domain/refunds.ts";
import type { DebitRecord } from "../storage/payments/payment-record.ts";
import type { TransitionResult } from "../storage/payments/payments.ts";
import type { Store } from "../storage/store.ts";
import { createLineParser, type LineError } from "./json-line.ts";
import { feedLines, type LineStream } from "./line-feed.ts";
import {
  type CoverLine,
  type FailLine,
  type PaymentLine as ReceivedLine,
  readLineSchemas,
} from "./line-schemas.ts";

type Named = Pick<FailLine, "merchant" | "paymentId">;

/** A change of an original payment by the payment system (D25), in the terms of the domain. */
export type PaymentLine =
  | (Named & {
      readonly op: "put";
      readonly amountCents: number;
      readonly requestKey: string | null;
      readonly clientReferenceId: string | null;
    })
  | (Named & { readonly op: "settle"; readonly settledAt: Date })
  | FailLine
  | CoverLine;

export type ParsePaymentLine = (bytes: Buffer) => PaymentLine | LineError;

/** Reads lines that are valid by the schema `PaymentLine`. */
export function createPaymentLineParser(document: ContractDocument): ParsePaymentLine {
  const parse = createLineParser<ReceivedLine>(document, "PaymentLine", { withAmount: "PutLine" });
  return (bytes) => {
    const parsed = parse(bytes);
    return "error" in parsed ? parsed : toPaymentLine(parsed.value);
  };
}

function toPaymentLine(line: ReceivedLine): PaymentLine {
  if (line.op === "settle") return { ...line, settledAt: new Date(line.settledAt) };
  if (line.op !== "put") return line;
  const { amount, requestKey = null, clientReferenceId = null, ...name } = line;
  return { ...name, amountCents: toCents(amount.value), requestKey, clientReferenceId };
}

export type PaymentStore = Pick<
  Store,
  "insertPayment" | "settleOriginal" | "failOriginal" | "coverOriginal" | "getPayment" | "findByRequestKey"
>;

/** The result of a line; `unchanged` when it had been applied before. */
export type Applied = "applied" | "unchanged" | { readonly error: string };

/** Applies a line of the payment system about an original payment (D25). Repeating it changes nothing, even after later lines about the same payment. */
export async function applyPayment(store: PaymentStore, line: PaymentLine, now: Date): Promise<Applied> {
  switch (line.op) {
    case "put":
      return put(store, line, now);
    case "settle": {
      const error = settlementError(line.settledAt, now);
      if (error) return { error };
      return toApplied(store, line, await store.settleOriginal({ ...line, now }));
    }
    case "fail":
      return toApplied(store, line, await store.failOriginal({ ...line, now }));
    case "cover":
      return toApplied(store, line, await store.coverOriginal({ ...line, now }));
  }
}

async function put(store: PaymentStore, line: Extract<PaymentLine, { op: "put" }>, now: Date) {
  const { op: _, ...payment } = line;
  const made = await store.insertPayment({
    ...payment,
    status: "PROCESSING",
    settledAt: null,
    now,
    emitted: true,
  });
  if (made) return "applied";

  const existing = await store.getPayment(line);
  if (!existing) return { error: await describeKeyHolder(store, line) };
  if (existing.kind === "REFUND") return { error: "paymentId names a refund" };
  const differing = (["amountCents", "requestKey", "clientReferenceId"] as const).filter(
    (name) => existing[name] !== line[name],
  );
  if (differing.length === 0) return "unchanged";
  const names = differing.map((name) => (name === "amountCents" ? "amount" : name)).join(", ");
  return { error: `the payment exists with another ${names}` };
}

async function describeKeyHolder(
  store: PaymentStore,
  { merchant, requestKey }: Extract<PaymentLine, { op: "put" }>,
): Promise<string> {
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
  line: Exclude<PaymentLine, { op: "put" }>,
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

function hasMade(payment: DebitRecord, line: Exclude<PaymentLine, { op: "put" }>): boolean {
  if (!hasBeen(payment, STATUS_OF[line.op])) return false;
  return line.op !== "settle" || payment.settledAt?.getTime() === line.settledAt.getTime();
}

function hasBeen({ history }: DebitRecord, status: OriginalStatus): boolean {
  return history.some((entry) => entry.status === status);
}

export type PaymentsOptions = LineStream & {
  store: PaymentStore;
  /** The domain's time. */
  now: () => Date;
};

/**
 * Applies lines about original payments (D25). Lines with the same payment or requestKey are applied in their order.
 * @returns whether every line was accepted
 */
export async function feedPayments({ store, now, ...stream }: PaymentsOptions): Promise<boolean> {
  const counts = await feedLines(stream, {
    results: ["applied", "unchanged"],
    parse: createPaymentLineParser(readLineSchemas()),
    keysOf,
    apply: (line) => applyPayment(store, line, now()),
  });
  return counts !== undefined;
}

function keysOf(line: PaymentLine): string[] {
  const payment = JSON.stringify([line.merchant, "payment", line.paymentId]);
  if (line.op !== "put" || line.requestKey === null) return [payment];
  return [payment, JSON.stringify([line.merchant, "key", line.requestKey])];
}
