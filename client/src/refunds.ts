import { type AmountInput, toAmount, toCents } from "./amount.ts";
import type { Call, CallOptions } from "./call.ts";
import { ProblemError } from "./errors.ts";
import { isObject } from "./json.ts";
import type { ExistingRecord, IssuedRefund, RefundRequest } from "./types.ts";

/** A refund to issue. As the contract has it, but for an amount that needs no care. */
export type IssueRefundRequest = Omit<RefundRequest, "amount"> & {
  /** Dollars with at most two digits after the point, such as `"19.99"` or `19.99`; or `{ cents: 1999 }`. */
  amount: AmountInput;
};

export interface IssueRefundOptions extends CallOptions {
  /** How often a request is sent at most; the client's `maxAttempts` unless given. */
  maxAttempts?: number;
  /**
   * Say so when an earlier call with this `requestKey` may have been carried out, as after a crash or an error whose
   * `outcomeUnknown` is true: the same refund that has the key is then this one.
   */
  repeated?: boolean;
}

export interface Refunds {
  /**
   * Refunds all or part of an earlier payment. A refund that ends `TERMINAL_FAILED` is a value like the others, with
   * `errorDetails`.
   *
   * Repeats the call after a network error, a timeout, 429, 502, 503 and 504, which its `requestKey` makes safe. When an
   * attempt that seemed lost had made the refund, the value is that refund as it is now: when the record that has the
   * key refunds the same payment by the same amount under the same reference.
   *
   * @throws ProblemError for a problem: another refund has the `requestKey`, a field is wrong, there is no such payment…
   * @throws InvalidAmountError before anything is sent
   * @throws NetworkError, TimeoutError, UnexpectedResponseError when no attempt gets a response of the service
   */
  issue(request: IssueRefundRequest, options?: IssueRefundOptions): Promise<IssuedRefund>;
}

/** Statuses of a gateway, or of a service that is starting or full; and no response at all. */
function mayRepeat(status: number | undefined): boolean {
  return status === undefined || status === 429 || (status >= 502 && status <= 504);
}

export function createRefunds(call: Call): Refunds {
  return {
    async issue(request, { maxAttempts, repeated = false, ...options } = {}) {
      const body = { ...request, amount: toAmount(request.amount) };
      const progress = { attempts: 0, outcomeUnknown: repeated };
      const result = await call("issueRefund", body, options, { maxAttempts, mayRepeat, progress });
      // Which fields come with which status is the contract's promise, that its type can't express.
      if (result.status === 201) return result.body as IssuedRefund;
      if (result.status === 409 && progress.outcomeUnknown && isSame(result.body.existing, body)) {
        const { originalPaymentId, amount, ...refund } = result.body.existing;
        return refund as IssuedRefund;
      }
      throw new ProblemError(result, progress);
    },
  };
}

/** Whether the record is the refund that was asked for. An original payment has none of these fields. */
function isSame(existing: ExistingRecord | undefined, request: RefundRequest): boolean {
  const { originalPaymentId, amount, clientReferenceId } = existing ?? {};
  const reference = request.clientReferenceId ?? request.clientRefefenceId ?? null;
  return (
    originalPaymentId === request.paymentId &&
    isObject(amount) &&
    amount.currency === request.amount.currency &&
    toCents(amount.value) === toCents(request.amount.value) &&
    clientReferenceId === reference
  );
}
