import { randomUUID } from "node:crypto";
import { isNode } from "../../../openapi/document/document-node.ts";
import {
  has,
  inResponses,
  inViolations,
  isProblem,
  isRefund,
  isSubscription,
  jsonOf,
  type Planted,
  problem,
  rewriteIn,
  SUBSCRIBE,
  withHeaders,
  withJson,
  without,
} from "./fault-builders.ts";
import type { Fault } from "./faulty-server.ts";

/** Faulty responses, one at a time. */
export const FAULTY_RESPONSES: Planted = {
  "returns the misspelt reference": [
    "reference.misspelling-accepted",
    rewriteIn(isRefund, (refund) => ({ ...refund, clientRefefenceId: refund.clientReferenceId })),
  ],
  "responds to a refund with 200": [
    "first-status.settled",
    inResponses(isRefund, (response) => ({ ...response, status: 200 })),
  ],
  "responds to a subscription with 201": [
    "example.subscribeToWebhooks.allEvents",
    inResponses(isSubscription, (response) => ({ ...response, status: 201 })),
  ],
  "calls the failure FAILED": [
    "first-status.failed",
    rewriteIn(isRefund, ({ paymentStatus, ...refund }) => ({
      ...refund,
      paymentStatus: paymentStatus === "TERMINAL_FAILED" ? "FAILED" : paymentStatus,
    })),
  ],
  "authorizes the refund of a recent payment at once": [
    "first-status.recent",
    rewriteIn(
      (response, call) => isRefund(response, call) && jsonOf(response).paymentStatus === "PENDING",
      (refund) => ({ ...refund, paymentStatus: "AUTHORIZED" }),
    ),
  ],
  "refuses a refund of more than is left with 400": [
    "amount.exceeds",
    inResponses(
      (response) =>
        JSON.stringify(jsonOf(response).errorDetails)?.includes("AMOUNT_EXCEEDS_REFUNDABLE") ?? false,
      () => problem(400, "INVALID_REQUEST"),
    ),
  ],
  "leaves clientReferenceId out when none was sent": [
    "reference.null-when-absent",
    rewriteIn(
      (response, call) => isRefund(response, call) && jsonOf(response).clientReferenceId === null,
      without("clientReferenceId"),
    ),
  ],
  "sends a charset with application/json": [
    "response.media-type",
    inResponses(isRefund, withHeaders({ "content-type": "application/json; charset=utf-8" })),
    { beside: "first-status." },
  ],
  "sends every problem as application/problem+json": [
    "accept.problem-type",
    inResponses(isProblem, withHeaders({ "content-type": "application/problem+json" })),
  ],
  "leaves WWW-Authenticate out of a 401": [
    "broken.issueRefund-security",
    inResponses(has(401), withHeaders({ "www-authenticate": undefined })),
  ],
  "does not say that a refused token is invalid": [
    "access.unknown-token",
    inResponses(has(401), withHeaders({ "www-authenticate": "Bearer" })),
  ],
  "calls an unknown path an unknown payment": [
    "order.head",
    inResponses(has(404), () => problem(404, "PAYMENT_NOT_FOUND")),
  ],
  "leaves Allow out of a 405": [
    "method.not-allowed",
    inResponses(has(405), withHeaders({ allow: undefined })),
  ],
  "limits calls without Retry-After": ["response.retry-after", limitingOnce(), { beside: "body.malformed" }],
  "responds with 422 where the document has 400": [
    "response.status",
    inResponses(has(400), (response) => ({
      ...withJson(response, { ...jsonOf(response), status: 422 }),
      status: 422,
    })),
    { beside: "violation." },
  ],
  "fails on a body that is not JSON": [
    "body.malformed",
    inResponses(
      (response, { body }) => response.status === 400 && body.toString("utf8") === "{",
      () => problem(500, "INTERNAL_ERROR"),
    ),
  ],
  "does not say what is wrong with a body": [
    "broken.issueRefund-paymentId-required",
    rewriteIn(has(400), without("violations")),
  ],
  "writes violations with points instead of slashes": [
    "violation.all-at-once",
    rewriteIn(
      has(400),
      inViolations(({ pointer, message }) => ({
        message,
        pointer: String(pointer).slice(1).replaceAll("/", "."),
      })),
    ),
  ],
  "gives every problem the same instance": [
    "problem.instance",
    rewriteIn(isProblem, (json) => ({
      ...json,
      instance: "urn:uuid:3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19",
    })),
  ],
  "does not tell what holds a used requestKey": ["key.existing", rewriteIn(has(409), without("existing"))],
  "gives the amount of the existing refund as a text": [
    "amount.cents",
    rewriteIn(
      (response) => isNode(jsonOf(response).existing),
      ({ existing, ...json }) => ({
        ...json,
        existing: { ...(existing as object), amount: { currency: "USD", value: "0.07" } },
      }),
    ),
  ],
  "has another text for another merchant's payment": [
    "payment.foreign",
    rewriteIn(
      (response, { body }) => response.status === 404 && body.includes("pay_recent"),
      (json) => ({ ...json, detail: "That payment is not yours." }),
    ),
  ],
  "returns the secretKey of a subscription": [
    "response.secret",
    rewriteIn(isSubscription, (json, call) => ({ ...json, secretKey: jsonOf(call).secretKey })),
    { beside: "subscription." },
  ],
  "gives every subscription the same key": [
    "subscription.another",
    rewriteIn(isSubscription, () => ({ subscriptionKey: "sub_1" })),
    { beside: "example." },
  ],
  "makes another subscription of an equal call": [
    "subscription.again",
    rewriteIn(isSubscription, () => ({ subscriptionKey: `sub_${randomUUID()}` })),
    { beside: "example." },
  ],
  "does not say which events there are": [
    "subscription.unknown-name",
    rewriteIn(
      (response, { path }) => path === SUBSCRIBE && response.status === 400,
      inViolations(({ pointer }) => ({ pointer, message: "is not a list of known names" })),
    ),
  ],
};

function limitingOnce(): Fault {
  let limited = false;
  return async (call, forward) => {
    if (limited || call.body.toString("utf8") !== "{") return forward(call);
    limited = true;
    return problem(429, "RATE_LIMITED");
  };
}
