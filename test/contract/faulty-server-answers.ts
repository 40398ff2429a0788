import type { Fault } from "./faulty-server.ts";
import {
  has,
  inAnswers,
  isObject,
  isRefund,
  isSubscription,
  jsonOf,
  type Planted,
  problem,
  REFUNDS,
  rewrite,
  SUBSCRIBE,
  withHeaders,
  without,
} from "./faulty-server-parts.ts";

/** Faults in what a server answers, one at a time. */
export const FAULTY_ANSWERS: readonly Planted[] = [
  {
    name: "returns the misspelt reference",
    check: "reference.misspelling-never-returned",
    fault: inAnswers(
      isRefund,
      rewrite((refund) => ({ ...refund, clientRefefenceId: refund.clientReferenceId })),
    ),
  },
  {
    name: "answers a refund with 200",
    check: "first-status.settled",
    fault: inAnswers(isRefund, (reply) => ({ ...reply, status: 200 })),
  },
  {
    name: "answers a subscription with 201",
    check: "example.subscribeToWebhooks.allEvents",
    fault: inAnswers(isSubscription, (reply) => ({ ...reply, status: 201 })),
  },
  {
    name: "leaves errorDetails out of a failed refund",
    check: "first-status.failed",
    fault: inAnswers(
      isRefund,
      rewrite((refund) => without(refund, "errorDetails")),
    ),
  },
  {
    name: "calls the failure FAILED",
    check: "first-status.failed",
    fault: inAnswers(
      isRefund,
      rewrite(({ paymentStatus, ...refund }) => ({
        ...refund,
        paymentStatus: paymentStatus === "TERMINAL_FAILED" ? "FAILED" : paymentStatus,
      })),
    ),
  },
  {
    name: "authorizes the refund of a recent payment at once",
    check: "first-status.recent",
    fault: inAnswers(
      (reply, call) => isRefund(reply, call) && jsonOf(reply).paymentStatus === "PENDING",
      rewrite((refund) => ({ ...refund, paymentStatus: "AUTHORIZED" })),
    ),
  },
  {
    name: "gives every failed refund the same reason",
    check: "first-status.covered",
    fault: inAnswers(
      (reply, call) => isRefund(reply, call) && jsonOf(reply).errorDetails !== undefined,
      rewrite((refund) => ({
        ...refund,
        errorDetails: { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: "It failed." },
      })),
    ),
  },
  {
    name: "refuses a refund of more than is left with 400",
    check: "amount.exceeds",
    fault: inAnswers(
      (reply) => JSON.stringify(jsonOf(reply).errorDetails)?.includes("AMOUNT_EXCEEDS_REFUNDABLE") ?? false,
      () => problem(400, "INVALID_REQUEST"),
    ),
  },
  {
    name: "leaves clientReferenceId out when none was sent",
    check: "reference.null-when-absent",
    fault: inAnswers(
      (reply, call) => isRefund(reply, call) && jsonOf(reply).clientReferenceId === null,
      rewrite((refund) => without(refund, "clientReferenceId")),
    ),
  },
  {
    name: "sends refunds as text/html",
    check: "answer.media-type",
    beside: "first-status.",
    fault: inAnswers(isRefund, (reply) => withHeaders(reply, { "content-type": "text/html; charset=utf-8" })),
  },
  {
    name: "sends every problem as application/problem+json",
    check: "accept.problem-type",
    fault: inAnswers(
      ({ status }) => status >= 400,
      (reply) => withHeaders(reply, { "content-type": "application/problem+json" }),
    ),
  },
  {
    name: "leaves WWW-Authenticate out of a 401",
    check: "access.no-token",
    fault: inAnswers(has(401), (reply) => withHeaders(reply, { "www-authenticate": undefined })),
  },
  {
    name: "leaves Allow out of a 405",
    check: "method.not-allowed",
    fault: inAnswers(has(405), (reply) => withHeaders(reply, { allow: undefined })),
  },
  {
    name: "limits calls without Retry-After",
    check: "answer.retry-after",
    beside: "content-encoding.",
    fault: limitingOnce(),
  },
  {
    name: "answers 422 where the document has 400",
    check: "answer.status",
    beside: "violation.",
    fault: inAnswers(has(400), (reply, call) => ({
      ...rewrite((json) => ({ ...json, status: 422 }))(reply, call),
      status: 422,
    })),
  },
  {
    name: "fails on a body that is not JSON",
    check: "body.malformed",
    fault: inAnswers(
      (reply, { body }) => reply.status === 400 && body.toString("utf8") === "{",
      () => problem(500, "INTERNAL_ERROR"),
    ),
  },
  {
    name: "does not say what is wrong with a body",
    check: "violation.missing-field",
    fault: inAnswers(
      has(400),
      rewrite((json) => without(json, "violations")),
    ),
  },
  {
    name: "writes violations with points instead of slashes",
    check: "violation.all-at-once",
    fault: inAnswers(
      has(400),
      rewrite(({ violations, ...json }) => ({
        ...json,
        violations: Array.isArray(violations)
          ? violations.map(({ pointer, message }) => ({
              message,
              pointer: String(pointer).slice(1).replaceAll("/", "."),
            }))
          : violations,
      })),
    ),
  },
  {
    name: "gives every problem the same instance",
    check: "problem.instance",
    fault: inAnswers(
      ({ status }) => status >= 400,
      rewrite((json) => ({ ...json, instance: "urn:uuid:3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19" })),
    ),
  },
  {
    name: "leaves errorDetails out of problems",
    check: "problem.reason",
    fault: inAnswers(
      ({ status }) => status >= 400,
      rewrite((json) => without(json, "errorDetails")),
    ),
  },
  {
    name: "does not tell what holds a used requestKey",
    check: "key.existing",
    fault: inAnswers(
      has(409),
      rewrite((json) => without(json, "existing")),
    ),
  },
  {
    name: "tells the amount that it holds as a text",
    check: "amount.cents",
    fault: inAnswers(
      (reply) => isObject(jsonOf(reply).existing),
      rewrite(({ existing, ...json }) => ({
        ...json,
        existing: { ...(existing as object), amount: { currency: "USD", value: "0.07" } },
      })),
    ),
  },
  {
    name: "answers 403 to another merchant's payment",
    check: "payment.foreign",
    fault: inAnswers(
      (reply, { path, body, headers }) =>
        path === REFUNDS &&
        reply.status === 404 &&
        body.includes("pay_recent") &&
        headers.authorization !== undefined,
      () => problem(403, "FORBIDDEN"),
    ),
  },
  {
    name: "has another text for another merchant's payment",
    check: "payment.foreign",
    fault: inAnswers(
      (reply, { body }) => reply.status === 404 && body.includes("pay_recent"),
      rewrite((json) => ({ ...json, detail: "That payment is not yours." })),
    ),
  },
  {
    name: "returns the secretKey of a subscription",
    check: "answer.secret",
    beside: "subscription.",
    fault: inAnswers(
      isSubscription,
      rewrite((json, call) => ({ ...json, secretKey: jsonOf(call).secretKey })),
    ),
  },
  {
    name: "gives every subscription the same key",
    check: "subscription.again",
    beside: "example.",
    fault: inAnswers(
      isSubscription,
      rewrite(() => ({ subscriptionKey: "sub_1" })),
    ),
  },
  {
    name: "does not say which events there are",
    check: "subscription.unknown-name",
    fault: inAnswers(
      (reply, { path }) => path === SUBSCRIBE && reply.status === 400,
      rewrite(({ violations, ...json }) => ({
        ...json,
        violations: Array.isArray(violations)
          ? violations.map(({ pointer }) => ({ pointer, message: "is not a list of known names" }))
          : violations,
      })),
    ),
  },
];

function limitingOnce(): Fault {
  let limited = false;
  return async (call, forward) => {
    if (limited || call.headers["content-encoding"] === undefined) return forward(call);
    limited = true;
    return problem(429, "RATE_LIMITED");
  };
}
