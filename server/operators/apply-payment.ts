import { isInCalendar } from "../domain/business-days.ts";
import type { OriginalStatus } from "../domain/refunds.ts";
import type { TransitionResult } from "../storage/payments/payments.ts";
import type { DebitRecord } from "../storage/statements/payment-record.ts";
import type { BoundStorage } from "../storage/storage.ts";
import type { PaymentLine } from "./payment-line.ts";

export type PaymentStore = Pick<
  BoundStorage,
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

async function put(
  store: PaymentStore,
  line: Extract<PaymentLine, { op: "put" }>,
  now: Date,
): Promise<Applied> {
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
  if (line.op === "settle" && hasBeen(payment, "SETTLED")) {
    return { error: `the payment settled at another time, ${payment.settledAt?.toISOString()}` };
  }
  return { error: `the payment is ${result.status} and can't become ${STATUS_OF[line.op]}` };
}

function hasMade(payment: DebitRecord, line: Exclude<PaymentLine, { op: "put" }>): boolean {
  if (!hasBeen(payment, STATUS_OF[line.op])) return false;
  return line.op !== "settle" || payment.settledAt?.getTime() === line.settledAt.getTime();
}

function hasBeen({ history }: DebitRecord, status: OriginalStatus): boolean {
  return history.some((entry) => entry.status === status);
}
