import { isInCalendar } from "../domain/calendar.ts";
import { createPaymentId } from "../domain/ids.ts";
import { toCents } from "../domain/money.ts";
import { ORIGINAL_MOVES, type OriginalStatus } from "../domain/refunds.ts";
import { existingRecord } from "../http/handlers/issue-refund.ts";
import type { HandlersOf, RequestBody } from "../http/operations.ts";
import type { MoveResult } from "../storage/payments.ts";
import { invalid, unknown } from "./faults.ts";
import { LONG_AGO_MS } from "./fixtures.ts";
import { toDebit, toRecord } from "./records.ts";
import type { SandboxParts } from "./store.ts";

type PaymentCalls =
  | "createPayment"
  | "listPayments"
  | "getPayment"
  | "settlePayment"
  | "failPayment"
  | "coverPayment";

/** Original payments: made, moved (D16a) and looked at. */
export function paymentHandlers({ store, clock }: SandboxParts): HandlersOf<PaymentCalls> {
  return {
    async createPayment({ merchant, body }) {
      const now = await clock.now();
      const status = body.status ?? "SETTLED";
      const settledAt = settlementOf(status, body, now);
      const fault = settledAt && settlementFault(settledAt, now);
      if (fault) return invalid("/settledAt", fault);
      if (body.settledAt !== undefined && !settledAt) {
        return invalid("/settledAt", `is not for a payment that is ${status}; leave it out`);
      }
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
        announced: true,
      });
      if (payment) return { status: 201, body: toDebit(payment) };
      const existing =
        requestKey === null ? undefined : await store.findByRequestKey({ merchant, requestKey });
      if (!existing) throw new Error("a new paymentId is taken");
      return { code: "DUPLICATE_REQUEST_KEY", detail: DUPLICATE, existing: existingRecord(existing) };
    },

    async listPayments({ merchant, query }) {
      const { kind, limit = DEFAULT_LIMIT, cursor } = query;
      const page = await store.listPayments({ merchant, kind, limit, cursor });
      if (page === "invalid-cursor") return invalid("/query/cursor", "is not the nextCursor of a page");
      return { status: 200, body: { items: page.payments.map(toRecord), nextCursor: page.nextCursor } };
    },

    async getPayment({ merchant, path: { paymentId } }) {
      const record = await store.getPayment({ merchant, paymentId });
      if (!record) return unknown("payment");
      return { status: 200, body: toRecord(record) };
    },

    async settlePayment({ merchant, path: { paymentId }, body }) {
      const now = await clock.now();
      const settledAt = body?.settledAt === undefined ? now : new Date(body.settledAt);
      const fault = settlementFault(settledAt, now);
      if (fault) return invalid("/settledAt", fault);
      return toReply(await store.settleOriginal({ merchant, paymentId, settledAt, now }), "SETTLED");
    },

    async failPayment({ merchant, path: { paymentId } }) {
      return toReply(await store.failOriginal({ merchant, paymentId, now: await clock.now() }), "FAILED");
    },

    async coverPayment({ merchant, path: { paymentId } }) {
      return toReply(await store.coverOriginal({ merchant, paymentId, now: await clock.now() }), "COVERED");
    },
  };
}

const DEFAULT_LIMIT = 20;
const DUPLICATE = "A payment record holds this requestKey already, so no payment was made. See existing.";

/** When a new payment settled: as said, 30 days ago, or null for one that has not settled. */
function settlementOf(status: OriginalStatus, body: RequestBody<"createPayment">, now: Date): Date | null {
  if (status === "PROCESSING" || status === "FAILED") return null;
  return body.settledAt === undefined ? new Date(now.getTime() - LONG_AGO_MS) : new Date(body.settledAt);
}

function settlementFault(settledAt: Date, now: Date): string | undefined {
  if (Number.isNaN(settledAt.getTime())) return "must be a time, such as 2026-11-18T15:30:00Z";
  if (settledAt > now) return `must not lie after the sandbox's time, which is ${now.toISOString()}`;
  return isInCalendar(settledAt) ? undefined : "must lie in the years 2020 to 2099";
}

function toReply(result: MoveResult, to: OriginalStatus) {
  switch (result.kind) {
    case "moved":
      return { status: 200, body: toDebit(result.payment) } as const;
    case "not-found":
      return unknown("payment");
    case "impossible":
      return { code: "IMPOSSIBLE_MOVE", detail: toRefusal(result.status, to) } as const;
  }
}

function toRefusal(from: OriginalStatus, to: OriginalStatus): string {
  const isFinal = !ORIGINAL_MOVES.some((move) => move.from === from);
  return `The payment is ${from}, ${isFinal ? "which is final, " : ""}so it can not become ${to}.`;
}
