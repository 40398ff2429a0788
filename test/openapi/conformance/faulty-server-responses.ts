import type { Fault } from "./faulty-server.ts";
import {
  has,
  inResponses,
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

/** Faulty responses, one at a time. */
export const FAULTY_RESPONSES: readonly Planted[] = [
  {
    name: "returns the misspelt reference",
    check: "reference.misspelling-never-returned",
    fault: inResponses(
      isRefund,
      rewrite((refund) => ({ ...refund, clientRefefenceId: refund.clientReferenceId })),
    ),
  },
  {
    name: "responds to a refund with 200",
    check: "first-status.settled",
    fault: inResponses(isRefund, (response) => ({ ...response, status: 200 })),
  },
  {
    name: "responds to a subscription with 201",
    check: "example.subscribeToWebhooks.allEvents",
    fault: inResponses(isSubscription, (response) => ({ ...response, status: 201 })),
  },
  {
    name: "leaves errorDetails out of a failed refund",
    check: "first-status.failed",
    fault: inResponses(
      isRefund,
      rewrite((refund) => without(refund, "errorDetails")),
    ),
  },
  {
    name: "calls the failure FAILED",
    check: "first-status.failed",
    fault: inResponses(
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
    fault: inResponses(
      (response, call) => isRefund(response, call) && jsonOf(response).paymentStatus === "PENDING",
      rewrite((refund) => ({ ...refund, paymentStatus: "AUTHORIZED" })),
    ),
  },
  {
    name: "gives every failed refund the same reason",
    check: "first-status.covered",
    fault: inResponses(
      (response, call) => isRefund(response, call) && jsonOf(response).errorDetails !== undefined,
      rewrite((refund) => ({
        ...refund,
        errorDetails: { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: "It failed." },
      })),
    ),
  },
  {
    name: "refuses a refund of more than is left with 400",
    check: "amount.exceeds",
    fault: inResponses(
      (response) =>
        JSON.stringify(jsonOf(response).errorDetails)?.includes("AMOUNT_EXCEEDS_REFUNDABLE") ?? false,
      () => problem(400, "INVALID_REQUEST"),
    ),
  },
  {
    name: "leaves clientReferenceId out when none was sent",
    check: "reference.null-when-absent",
    fault: inResponses(
      (response, call) => isRefund(response, call) && jsonOf(response).clientReferenceId === null,
      rewrite((refund) => without(refund, "clientReferenceId")),
    ),
  },
  {
    name: "sends refunds as text/html",
    check: "response.media-type",
    beside: "first-status.",
    fault: inResponses(isRefund, (response) =>
      withHeaders(response, { "content-type": "text/html; charset=utf-8" }),
    ),
  },
  {
    name: "sends a charset with application/json",
    check: "response.media-type",
    beside: "first-status.",
    fault: inResponses(isRefund, (response) =>
      withHeaders(response, { "content-type": "application/json; charset=utf-8" }),
    ),
  },
  {
    name: "sends every problem as application/problem+json",
    check: "accept.problem-type",
    fault: inResponses(
      ({ status }) => status >= 400,
      (response) => withHeaders(response, { "content-type": "application/problem+json" }),
    ),
  },
  {
    name: "leaves WWW-Authenticate out of a 401",
    check: "access.no-token",
    fault: inResponses(has(401), (response) => withHeaders(response, { "www-authenticate": undefined })),
  },
  {
    name: "leaves Allow out of a 405",
    check: "method.not-allowed",
    fault: inResponses(has(405), (response) => withHeaders(response, { allow: undefined })),
  },
  {
    name: "limits calls without Retry-After",
    check: "response.retry-after",
    beside: "content-encoding.",
    fault: limitingOnce(),
  },
  {
    name: "responds with 422 where the document has 400",
    check: "response.status",
    beside: "violation.",
    fault: inResponses(has(400), (response, call) => ({
      ...rewrite((json) => ({ ...json, status: 422 }))(response, call),
      status: 422,
    })),
  },
  {
    name: "fails on a body that is not JSON",
    check: "body.malformed",
    fault: inResponses(
      (response, { body }) => response.status === 400 && body.toString("utf8") === "{",
      () => problem(500, "INTERNAL_ERROR"),
    ),
  },
  {
    name: "does not say what is wrong with a body",
    check: "violation.missing-field",
    fault: inResponses(
      has(400),
      rewrite((json) => without(json, "violations")),
    ),
  },
  {
    name: "writes violations with points instead of slashes",
    check: "violation.all-at-once",
    fault: inResponses(
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
    fault: inResponses(
      ({ status }) => status >= 400,
      rewrite((json) => ({ ...json, instance: "urn:uuid:3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19" })),
    ),
  },
  {
    name: "leaves errorDetails out of problems",
    check: "problem.reason",
    fault: inResponses(
      ({ status }) => status >= 400,
      rewrite((json) => without(json, "errorDetails")),
    ),
  },
  {
    name: "does not tell what holds a used requestKey",
    check: "key.existing",
    fault: inResponses(
      has(409),
      rewrite((json) => without(json, "existing")),
    ),
  },
  {
    name: "gives the amount of the existing refund as a text",
    check: "amount.cents",
    fault: inResponses(
      (response) => isObject(jsonOf(response).existing),
      rewrite(({ existing, ...json }) => ({
        ...json,
        existing: { ...(existing as object), amount: { currency: "USD", value: "0.07" } },
      })),
    ),
  },
  {
    name: "responds with 403 to another merchant's payment",
    check: "payment.foreign",
    fault: inResponses(
      (response, { path, body, headers }) =>
        path === REFUNDS &&
        response.status === 404 &&
        body.includes("pay_recent") &&
        headers.authorization !== undefined,
      () => problem(403, "FORBIDDEN"),
    ),
  },
  {
    name: "has another text for another merchant's payment",
    check: "payment.foreign",
    fault: inResponses(
      (response, { body }) => response.status === 404 && body.includes("pay_recent"),
      rewrite((json) => ({ ...json, detail: "That payment is not yours." })),
    ),
  },
  {
    name: "returns the secretKey of a subscription",
    check: "response.secret",
    beside: "subscription.",
    fault: inResponses(
      isSubscription,
      rewrite((json, call) => ({ ...json, secretKey: jsonOf(call).secretKey })),
    ),
  },
  {
    name: "gives every subscription the same key",
    check: "subscription.again",
    beside: "example.",
    fault: inResponses(
      isSubscription,
      rewrite(() => ({ subscriptionKey: "sub_1" })),
    ),
  },
  {
    name: "does not say which events there are",
    check: "subscription.unknown-name",
    fault: inResponses(
      (response, { path }) => path === SUBSCRIBE && response.status === 400,
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
