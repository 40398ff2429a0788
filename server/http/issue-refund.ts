import type { Handler, RequestBody, ValidRequest } from "../contract/operation-types.ts";
import { ProblemError, unavailable, type Violation } from "../contract/problem.ts";
import { type DomainClock, toDomainTime } from "../domain/domain-time.ts";
import { createRefundId } from "../domain/ids.ts";
import { toCents } from "../domain/money.ts";
import { firstStatus, type Original } from "../domain/refund-rules.ts";
import type { NewRefund } from "../storage/payments/payment-record.ts";
import type { RefundQueue } from "../storage/payments/refund-queue.ts";
import { respondToUsedKey, toRefund } from "./idempotency.ts";

/**
 * Issues a refund: 201 in every status, 409 for a used requestKey, 404 for a payment the merchant does not have, 403 when money
 * would move while the merchant's refunds are held (D35). Throws `UNAVAILABLE` when the payment changes faster than a decision about
 * it can be saved.
 * @param charge counts each delivery after the first as a further call of the merchant (D27); returns 0, or the milliseconds to wait. It
 *   is called before the refund is saved, because calls under way together would all be saved otherwise.
 */
export function issueRefund(
  store: RefundQueue,
  { realNow, isWrong }: Pick<DomainClock, "realNow" | "isWrong">,
  charge: (merchant: string, calls: number) => number = () => 0,
): Handler<"issueRefund"> {
  return async (request) => {
    const { merchant, body, timeLimit } = request;
    for (let decisions = 0; decisions < MAX_DECISIONS; decisions += 1) {
      const { original, clockOffsetMs, held, receivers } = await store.loadOriginal(
        { merchant, paymentId: body.paymentId },
        timeLimit,
      );
      // By a clock that may be wrong, nothing becomes AUTHORIZED (D30): the refund waits. Under a hold it is refused even then.
      const at = { now: toDomainTime(realNow(), clockOffsetMs), isDoubted: !held && isWrong() };
      const refund = original && decide(request, original, at);
      const isHeld = held && refund?.decision.paymentStatus === "AUTHORIZED";
      if (refund && !isHeld) {
        const further = Math.max(0, receivers - 1);
        const waitMs = charge(merchant, further);
        if (waitMs > 0) {
          const headers = { "Retry-After": `${Math.ceil(waitMs / 1000)}` };
          throw new ProblemError("RATE_LIMITED", { headers });
        }
        let isSaved = false;
        try {
          isSaved = await store.saveRefund(refund, { timeLimit, isWide: receivers > FEW_DELIVERIES });
        } finally {
          if (!isSaved) charge(merchant, -further); // also when the call gets 503
        }
        if (isSaved) return { status: 201, body: toRefund(refund) };
      }

      const existing = await store.findByRequestKey({ merchant, requestKey: body.requestKey }, timeLimit);
      if (existing) return respondToUsedKey(existing, refund);
      // The same response for a payment that does not exist and for another merchant's (D08).
      if (!refund) return { code: "PAYMENT_NOT_FOUND" };
      if (isHeld) return { code: "REFUNDS_HELD" };
      // The payment changed, or a hold began between load and save, so the decision is made again.
    }
    throw unavailable(new Error(`the payment changed during ${MAX_DECISIONS} decisions in a row`));
  };
}

/** How often a request is decided again because other requests changed the payment, before it is refused. */
const MAX_DECISIONS = 20;

/** A refund with more deliveries than this would hold up those that share its statement. */
const FEW_DELIVERIES = 8;

function decide(
  { merchant, body, caller, trace }: ValidRequest<"issueRefund">,
  original: Original,
  at: { now: Date; isDoubted: boolean },
): NewRefund {
  const amountCents = toCents(body.amount.value);
  return {
    paymentId: createRefundId(),
    merchant,
    original,
    decision: firstStatus(original, amountCents, at),
    amountCents,
    requestKey: body.requestKey,
    clientReferenceId: referenceOf(body),
    softDescriptor: body.softDescriptor || null,
    caller,
    trace,
    now: at.now,
  };
}

/** An empty spelling beside the other one counts as not sent (D01). */
function referenceOf({ clientReferenceId, clientRefefenceId }: RequestBody<"issueRefund">): string | null {
  return clientReferenceId || clientRefefenceId || (clientReferenceId ?? clientRefefenceId ?? null);
}

/** The two spellings of the reference must agree; a violation is reported at the misspelt one (D01, D07). */
export function checkReferences(body: unknown): Violation[] {
  const { clientReferenceId, clientRefefenceId } = (body ?? {}) as Partial<Record<string, unknown>>;
  if (typeof clientReferenceId !== "string" || typeof clientRefefenceId !== "string") return [];
  if (clientReferenceId === "" || clientRefefenceId === "" || clientReferenceId === clientRefefenceId)
    return [];
  const message = "differs from clientReferenceId; send clientReferenceId alone";
  return [{ pointer: "/clientRefefenceId", message }];
}
