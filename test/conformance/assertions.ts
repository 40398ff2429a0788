/** What checks of the conformance kit assert about a response: a refund, a subscription, a problem. */
import type { RefundStatus } from "../../client/src/index.ts";
import { isNode, type Node } from "../../openapi/document/document-node.ts";
import { CheckFailure, type Exchange, NotRun } from "../reporting/exchange.ts";

export const PROBLEM_STATUSES = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  REFUNDS_HELD: 403,
  NOT_FOUND: 404,
  PAYMENT_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  DUPLICATE_REQUEST_KEY: 409,
  SUBSCRIPTION_LIMIT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const;

export type ProblemCode = keyof typeof PROBLEM_STATUSES;

export function fail(expected: string, exchange?: Exchange): never {
  throw new CheckFailure(expected, exchange ?? {});
}

export function assert(condition: boolean, expected: string, exchange?: Exchange): asserts condition {
  if (!condition) fail(expected, exchange);
}

/** The body, or an empty object when it is not an object. */
export function bodyOf({ received: { body } }: Exchange): Node {
  return isNode(body) ? body : {};
}

export type ExpectedRefund = {
  readonly paymentStatus?: RefundStatus;
  /** The code of a failed refund; when `paymentStatus` is given, undefined expects no `errorDetails`. */
  readonly errorCode?: string;
  readonly clientReferenceId?: string | null;
};

/** Expects a valid refund; resolves with its body. Refunds of a merchant that is held can't be examined (D35). */
export function expectRefund(exchange: Exchange, expected: ExpectedRefund = {}): Node {
  const body = bodyOf(exchange);
  const { paymentStatus, errorCode, clientReferenceId } = expected;
  const words = [
    `201 with a refund${paymentStatus ? ` that is ${paymentStatus}` : ""}`,
    paymentStatus && (errorCode ? `errorDetails.errorCode ${errorCode}` : "no errorDetails"),
    clientReferenceId !== undefined && `clientReferenceId ${JSON.stringify(clientReferenceId)}`,
  ];
  if (errorCodeOf(body) === "REFUNDS_HELD" && exchange.received.status === 403)
    throw new NotRun(
      "the service holds the merchant's refunds; release them, or take another merchant's --token",
    );
  const text = words.filter((word) => typeof word === "string").join(", ");
  const made = exchange.received.status === 201 && typeof body.paymentId === "string";
  const reference = clientReferenceId === undefined || body.clientReferenceId === clientReferenceId;
  assert(made && reference && isIn(body, expected), text, exchange);
  return body;
}

function isIn(body: Node, { paymentStatus, errorCode }: ExpectedRefund): boolean {
  if (paymentStatus === undefined) return true;
  const details = isNode(body.errorDetails) ? body.errorDetails : undefined;
  const explained =
    errorCode === undefined
      ? body.errorDetails === undefined
      : details?.errorCode === errorCode && typeof details.errorMessage === "string";
  return body.paymentStatus === paymentStatus && explained;
}

/** Expects a refusal with a problem of this kind; resolves with its body. */
export function expectProblem(exchange: Exchange, code: ProblemCode, why = ""): Node {
  const status = PROBLEM_STATUSES[code];
  const body = bodyOf(exchange);
  const isProblem = exchange.received.status === status && errorCodeOf(body) === code;
  assert(isProblem, `${status} with errorDetails.errorCode ${code}${why && `, because ${why}`}`, exchange);
  return body;
}

function errorCodeOf({ errorDetails }: Node): unknown {
  return isNode(errorDetails) ? errorDetails.errorCode : undefined;
}

export function violationsOf({ violations }: Node): Node[] {
  return Array.isArray(violations) ? violations.filter(isNode) : [];
}
