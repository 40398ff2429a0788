import { type AmountInput, toAmount, toCents } from "./amount.ts";
import type { Call, CallOptions } from "./call.ts";
import { ProblemError } from "./errors.ts";
import { isObject } from "./json.ts";
import type { ExistingRecord, IssuedRefund, Refund, RefundRequest } from "./types.ts";

/** A refund to issue: the body that the contract defines, except that `amount` can be given in several safe forms. */
export type IssueRefundRequest = Omit<RefundRequest, "amount"> & {
  /** Dollars with at most two decimals, such as `"19.99"` or `19.99`; or `{ cents: 1999 }`. */
  amount: AmountInput;
};

export type IssueRefundOptions = CallOptions & {
  /** The most attempts; the client's `maxAttempts` by default. */
  maxAttempts?: number;
  /**
   * Set it when an earlier call with this `requestKey` may have been carried out, as after a crash or an error whose
   * `outcomeUnknown` is true: an equal refund that has the key then counts as this one.
   */
  repeated?: boolean;
};

export type Refunds = {
  /**
   * Refunds all or part of an earlier payment. A refund with the status `TERMINAL_FAILED` is returned like the others, with
   * `errorDetails`.
   *
   * Retries after a network error, a timeout, 408, 429, 500, 502, 503 and 504, which is safe because of the `requestKey`. When an
   * attempt that seemed lost had created the refund, the call resolves with that refund as it is now. A record counts as
   * that refund when it has the key and refunds the same payment by the same amount under the same reference.
   *
   * @throws ProblemError for a problem: another refund has the `requestKey`, a field is wrong, there is no such payment…
   * @throws InvalidAmountError before anything is sent
   * @throws NetworkError, TimeoutError, UnexpectedResponseError when no attempt gets a valid response
   */
  issue(request: IssueRefundRequest, options?: IssueRefundOptions): Promise<IssuedRefund>;
};

export function createRefunds(call: Call): Refunds {
  return {
    async issue(request, { maxAttempts, repeated = false, ...options } = {}) {
      const body = { ...request, amount: toAmount(request.amount) };
      const progress = { attempts: 0, outcomeUnknown: repeated };
      const result = await call("issueRefund", body, options, { maxAttempts, progress });
      // The contract says which fields come with which status, but its type can't express it.
      if (result.status === 201) return result.body as IssuedRefund;
      const existing = result.status === 409 ? result.body.existing : undefined;
      const mayExist = mayBe(existing, body);
      if (mayExist && progress.outcomeUnknown && existing.clientReferenceId === referenceOf(body)) {
        const { originalPaymentId, amount, ...members } = existing;
        const refund: Refund = members; // has every member that a refund must have
        return refund as IssuedRefund;
      }
      throw new ProblemError(result, progress, mayExist);
    },
  };
}

/** The members of every refund's record. `issue` does not compile until a member that the contract adds is listed here. */
type ExistingRefund = ExistingRecord & Required<Pick<ExistingRecord, "paymentStatus" | "clientReferenceId">>;

/** Whether the record can be the requested refund. Original payments lack these fields, and an erased refund has no reference. */
function mayBe(existing: ExistingRecord | undefined, request: RefundRequest): existing is ExistingRefund {
  const { originalPaymentId, amount, clientReferenceId } = existing ?? {};
  return (
    originalPaymentId === request.paymentId &&
    isObject(amount) &&
    amount.currency === request.amount.currency &&
    toCents(amount.value) === toCents(request.amount.value) &&
    (clientReferenceId === null || clientReferenceId === referenceOf(request))
  );
}

function referenceOf({ clientReferenceId, clientRefefenceId }: RefundRequest): string | null {
  return clientReferenceId || clientRefefenceId || (clientReferenceId ?? clientRefefenceId ?? null);
}
