import type { Logger } from "pino";
import type { SandboxSchemas } from "../../contract/contract-document.ts";
import { invalidRequest } from "../../contract/problem.ts";
import { holidaysBefore } from "../../domain/business-days.ts";
import type { DomainClock } from "../../domain/domain-time.ts";
import { toRefundView } from "../../domain/event-payloads.ts";
import { fromCents } from "../../domain/money.ts";
import type { OriginalStatus, RefundStatus } from "../../domain/refund-rules.ts";
import type { TraceContext } from "../../domain/trace-context.ts";
import type { Store } from "../../storage/open-store.ts";
import type { DebitRecord, PaymentRecord, RefundRecord } from "../../storage/payments/payment-record.ts";
import type { EncryptionKeys } from "../../storage/webhooks/secret-encryption.ts";
import type { Changes } from "./change-stream.ts";

/** The parts of the server that the operations of the sandbox use. */
export type SandboxParts = {
  store: Store;
  clock: DomainClock;
  changes: Pick<Changes, "notify">;
  logger: Logger;
  encryptionKeys: EncryptionKeys;
  /** Makes all transitions that are due at the domain's time; resolves when they are stored. */
  runDue(): Promise<void>;
};

/** A 400 that names one field of the body, such as `/settledAt`, or one parameter, such as `/query/cursor`. */
export function invalid(pointer: string, message: string) {
  return invalidRequest([{ pointer, message }]);
}

const NOT_FOUND_DETAILS = {
  delivery: "You have no delivery with this webhookId. List your deliveries to find it.",
  liveDelivery:
    "You have no delivery with this webhookId whose subscription is live. List your deliveries to find it.",
  subscription: "You have no subscription with this subscriptionKey. List your subscriptions to find it.",
  liveSubscription: "You have no live subscription with this subscriptionKey.",
} as const;

/** The same 404 for a record that does not exist and for one of another merchant. */
export function notFound(resource: keyof typeof NOT_FOUND_DETAILS | "payment") {
  if (resource === "payment") return { code: "PAYMENT_NOT_FOUND" } as const;
  return { code: "NOT_FOUND", detail: NOT_FOUND_DETAILS[resource] } as const;
}

/** A stored record as a response body of the sandbox contract. */
export function toRecord(
  record: PaymentRecord,
  trace?: TraceContext | null,
): SandboxSchemas["PaymentRecord"] {
  return record.kind === "DEBIT" ? toDebit(record) : toRefundRecord(record, trace);
}

/** An original payment as a response body. */
export function toDebit(record: DebitRecord): SandboxSchemas["Debit"] {
  return {
    kind: "DEBIT",
    paymentId: record.paymentId,
    amount: dollars(record.amountCents),
    status: record.status,
    settledAt: record.settledAt?.toISOString() ?? null,
    requestKey: record.requestKey,
    clientReferenceId: record.clientReferenceId,
    refundableAmount: dollars(record.amountCents - record.refundedCents),
    // A record's history holds the statuses of its own kind only.
    history: record.history.map(({ status, at }) => ({ status: status as OriginalStatus, at })),
  };
}

function toRefundRecord(
  record: RefundRecord,
  trace: TraceContext | null | undefined,
): SandboxSchemas["RefundRecord"] {
  return {
    kind: "REFUND",
    ...toRefundView(record),
    amount: dollars(record.amountCents),
    status: record.status,
    originalPaymentId: record.originalPaymentId,
    softDescriptor: record.softDescriptor,
    requestKey: record.requestKey,
    due: toDue(record),
    ...(trace && { traceparent: trace.traceparent }),
    history: record.history.map(({ status, at }) => ({ paymentStatus: status as RefundStatus, at })),
  };
}

function toDue({ status, dueAt }: RefundRecord): SandboxSchemas["RefundDue"] {
  return status === "PENDING" && dueAt ? { at: dueAt.toISOString(), holidays: holidaysBefore(dueAt) } : null;
}

function dollars(cents: number): { currency: "USD"; value: number } {
  return { currency: "USD", value: fromCents(cents) };
}
