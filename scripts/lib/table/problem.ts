import type { AnswerRow } from "./message.ts";
import type { OperationId } from "./row.ts";

/** The statuses of problems with their codes, as the decisions list them. */
const COMMON = {
  400: "INVALID_REQUEST",
  401: "UNAUTHORIZED",
  403: "FORBIDDEN",
  406: "NOT_ACCEPTABLE",
  408: "REQUEST_TIMEOUT",
  413: "PAYLOAD_TOO_LARGE",
  415: "UNSUPPORTED_MEDIA_TYPE",
  429: "RATE_LIMITED",
  500: "INTERNAL_ERROR",
  503: "UNAVAILABLE",
};
export const PROBLEMS: Readonly<Record<OperationId, Readonly<Record<number, string>>>> = {
  issueRefund: { ...COMMON, 404: "NOT_FOUND", 409: "DUPLICATE_REQUEST_KEY" },
  subscribeToWebhooks: { ...COMMON, 409: "SUBSCRIPTION_LIMIT" },
};
/** Codes that belong to no operation, or to the other one: the list is one for all problems. */
export const CODES = [
  ...new Set(Object.values(PROBLEMS).flatMap((codes) => Object.values(codes))),
  "METHOD_NOT_ALLOWED",
];

export const MEDIA_TYPES = ["application/problem+json", "application/json"];
export const UUID = "3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19";
export const VIOLATION = { pointer: "/amount", message: "is missing" };
export const EXISTING = {
  paymentId: "rfd_1",
  paymentStatus: "PENDING",
  clientReferenceId: null,
  originalPaymentId: "pay_1",
  amount: { currency: "USD", value: 1 },
};

/** What a status must have. */
const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "Bearer" },
  429: { "Retry-After": "1" },
  503: { "Retry-After": "1" },
};

/** An answer with a problem that is as it should be. */
export function problem(operation: OperationId, status: number, mediaType = MEDIA_TYPES[0] ?? ""): AnswerRow {
  const code = PROBLEMS[operation][status] ?? "";
  return {
    name: `${operation} ${status} as ${mediaType}`,
    operation,
    status,
    headers: { "Content-Type": mediaType, ...HEADERS[status] },
    body: {
      type: `urn:problem:${code.toLowerCase().replaceAll("_", "-")}`,
      title: "x",
      status,
      detail: "x",
      instance: `urn:uuid:${UUID}`,
      errorDetails: { errorCode: code, errorMessage: "x" },
      ...(status === 400 && { violations: [VIOLATION] }),
      ...(code === "DUPLICATE_REQUEST_KEY" && { existing: EXISTING }),
    },
    allowed: true,
  };
}
