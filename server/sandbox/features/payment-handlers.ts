import type { HandlersOf, RequestBody } from "../../contract/operation-types.ts";
import { isInCalendar } from "../../domain/business-days.ts";
import { createPaymentId } from "../../domain/ids.ts";
import { toCents } from "../../domain/money.ts";
import { ORIGINAL_TRANSITIONS, type OriginalStatus } from "../../domain/refund-rules.ts";
import { traceIdOf } from "../../domain/trace-context.ts";
import { existingRecord } from "../../http/idempotency.ts";
import type { OriginalChange, TransitionResult } from "../../storage/payments/original-transitions.ts";
import type { PaymentKey, PaymentRecord } from "../../storage/payments/payment-record.ts";
import { LONG_AGO_MS } from "./fixtures.ts";
import { invalid, notFound, type SandboxParts, toDebit, toRecord } from "./response-bodies.ts";

/** Creates, lists and reads original payments, and makes their transitions (D16a). */
export function paymentHandlers({
  store,
  clock,
  changes,
  logger,
}: SandboxParts): HandlersOf<PaymentOperations> {
  const change = async (payment: PaymentKey, transition: OriginalChange) => {
    const result = await store.transitionOriginal(payment, transition);
    const failedRefunds = result.kind === "changed" ? result.failedRefunds : [];
    for (const { trace, ...ids } of failedRefunds)
      logger.info({ ...ids, trace_id: traceIdOf(trace), paymentStatus: "TERMINAL_FAILED" }, "transition");
    changes.notify(["payments", "webhooks"], payment.merchant);
    return toTransitionResponse(result, transition.to);
  };
  /** Refunds with the traces of the calls that issued them. */
  const describe = async (merchant: string, records: readonly PaymentRecord[]) => {
    const refunds = records.filter(({ kind }) => kind === "REFUND");
    const paymentIds = refunds.map(({ paymentId }) => paymentId);
    const calls = await store.readIssuingCalls({ merchant, paymentIds });
    return records.map((record) => toRecord(record, calls.get(record.paymentId)?.trace));
  };
  return {
    async createPayment({ merchant, body }) {
      const now = await clock.now();
      const status = body.status ?? "SETTLED";
      const settledAt = settlementOf(status, body, now);
      const error = settledAt && settlementError(settledAt, now);
      if (error) return invalid("/settledAt", error);
      if (body.settledAt !== undefined && !settledAt)
        return invalid("/settledAt", `is not for a payment that is ${status}; leave it out`);
      const { requestKey = null, clientReferenceId = null } = body;
      const payment = await store.insertPayment({
        merchant,
        paymentId: createPaymentId(),
        status,
        amountCents: toCents(body.amount.value),
        settledAt,
        requestKey,
        clientReferenceId,
        now,
        emitted: true,
      });
      changes.notify(["payments", "webhooks"], merchant);
      if (payment) return { status: 201, body: toDebit(payment) };
      const existing =
        requestKey === null ? undefined : await store.findByRequestKey({ merchant, requestKey });
      if (!existing) throw new Error("a new paymentId exists already");
      return { code: "DUPLICATE_REQUEST_KEY", detail: DUPLICATE, existing: existingRecord(existing) };
    },

    async listPayments({ merchant, query }) {
      const page = await store.listPayments({ merchant, limit: DEFAULT_LIMIT, ...query });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      return {
        status: 200,
        body: { items: await describe(merchant, page.items), nextCursor: page.nextCursor },
      };
    },

    async getPayment({ merchant, path: { paymentId } }) {
      const record = await store.getPayment({ merchant, paymentId });
      if (!record) return notFound("payment");
      const [body = toRecord(record)] = await describe(merchant, [record]);
      return { status: 200, body };
    },

    async settlePayment({ merchant, path: { paymentId }, body }) {
      const now = await clock.now();
      const settledAt = body?.settledAt === undefined ? now : new Date(body.settledAt);
      const error = settlementError(settledAt, now);
      if (error) return invalid("/settledAt", error);
      return change({ merchant, paymentId }, { to: "SETTLED", settledAt, now });
    },

    async failPayment({ merchant, path: { paymentId } }) {
      return change({ merchant, paymentId }, { to: "FAILED", now: await clock.now() });
    },

    async coverPayment({ merchant, path: { paymentId } }) {
      return change({ merchant, paymentId }, { to: "COVERED", now: await clock.now() });
    },
  };
}

type PaymentOperations =
  | "createPayment"
  | "listPayments"
  | "getPayment"
  | "settlePayment"
  | "failPayment"
  | "coverPayment";

const DEFAULT_LIMIT = 20;
const DUPLICATE = "A payment record holds this requestKey already, so no payment was made. See existing.";

/** When a new payment settled: the requested time or 30 days ago, or null for a status without settlement. */
function settlementOf(status: OriginalStatus, body: RequestBody<"createPayment">, now: Date): Date | null {
  if (status === "PROCESSING" || status === "FAILED") return null;
  return body.settledAt === undefined ? new Date(now.getTime() - LONG_AGO_MS) : new Date(body.settledAt);
}

function settlementError(settledAt: Date, now: Date): string | undefined {
  if (Number.isNaN(settledAt.getTime())) return "must be a time, such as 2026-11-18T15:30:00Z";
  if (settledAt > now) return `must not lie after the sandbox's time, which is ${now.toISOString()}`;
  if (isInCalendar(settledAt)) return undefined;
  // The caller may have left it out; in this case it is required.
  return isInCalendar(now)
    ? "must lie in the years 2020 to 2099"
    : "must be sent, and lie in the years 2020 to 2099, because the sandbox's time is past them";
}

function toTransitionResponse(result: TransitionResult, to: OriginalStatus) {
  switch (result.kind) {
    case "changed":
      return { status: 200, body: toDebit(result.payment) } as const;
    case "not-found":
      return notFound("payment");
    case "impossible":
      return { code: "IMPOSSIBLE_MOVE", detail: explainImpossible(result.status, to) } as const;
  }
}

function explainImpossible(from: OriginalStatus, to: OriginalStatus): string {
  const isFinal = !ORIGINAL_TRANSITIONS.some((transition) => transition.from === from);
  return `The payment is ${from}, ${isFinal ? "which is final, " : ""}so it can't become ${to}.`;
}
