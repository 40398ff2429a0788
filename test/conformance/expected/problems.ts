import {
  AMOUNT,
  breaks,
  closed,
  keeps,
  REFUND_ERROR,
  RETURNED_REFERENCE,
  type ResponseRow,
  text,
  withHeader,
  within,
} from "./message.ts";
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
  issueRefund: { ...COMMON, 404: "PAYMENT_NOT_FOUND", 409: "DUPLICATE_REQUEST_KEY" },
  subscribeToWebhooks: { ...COMMON, 409: "SUBSCRIPTION_LIMIT" },
};
const MEDIA_TYPES = ["application/problem+json", "application/json"];
const UUID = "3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19";
const VIOLATION = { pointer: "/amount", message: "is missing" };
const EXISTING = {
  paymentId: "rfd_1",
  paymentStatus: "PENDING",
  clientReferenceId: null,
  originalPaymentId: "pay_1",
  amount: { currency: "USD", value: 1 },
};

/** The members that the problems of a status must have. */
const HEADERS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "Bearer" },
  429: { "Retry-After": "1" },
  503: { "Retry-After": "1" },
};

/** A response with a valid problem. */
export function problem(
  operation: OperationId,
  status: number,
  mediaType = "application/problem+json",
): ResponseRow {
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

const kinds = (Object.keys(PROBLEMS) as OperationId[]).flatMap((operation) =>
  Object.keys(PROBLEMS[operation]).map((status) => ({ operation, status: Number(status) })),
);

/** Every problem of every operation, as both media types and as others. */
const everywhere = kinds.flatMap(({ operation, status }) => [
  ...MEDIA_TYPES.flatMap((mediaType) => {
    const row = problem(operation, status, mediaType);
    const extra = { violations: [VIOLATION], existing: EXISTING };
    const others = Object.entries(extra).filter(([name]) => !(name in (row.body as object)));
    return [
      row,
      ...breaks(row, "", { "is empty": {}, "is a refund": EXISTING }),
      ...others.flatMap(([name, value]) => breaks(row, `/${name}`, { "is of another problem": value })),
    ];
  }),
  ...withHeader(problem(operation, status), "Content-Type", {
    kept: [],
    broken: ["text/plain", "text/html", "application/xml"],
  }),
]);

const MEMBERS = {
  type: { ...text(100), format: "uri" },
  title: text(100),
  status: { type: "integer", minimum: 400, maximum: 599 },
  detail: text(1000),
  instance: { type: "string", pattern: "^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$" },
  errorDetails: closed({
    errorCode: text(64),
    errorMessage: text(1000),
  }),
};
const plain = problem("issueRefund", 404);
const invalid = problem("issueRefund", 400);
const duplicate = problem("issueRefund", 409);

/** The limits of all problems, and of the members that some have in addition. */
const common: ResponseRow[] = [
  ...within(plain, closed(MEMBERS)),
  ...within(
    invalid,
    closed({
      ...MEMBERS,
      violations: {
        ...{ type: "array", minItems: 1, maxItems: 20 },
        items: closed({ pointer: text(1000, 0), message: text(1000) }),
      },
    }),
  ),
  ...keeps(plain, "/type", { "is short": "a:b", "has 100 characters": `urn:${"x".repeat(96)}` }),
  ...breaks(plain, "/type", { "has 101 characters": `urn:${"x".repeat(97)}` }),
  ...keeps(plain, "/instance", {
    "has the last of each kind": `urn:uuid:${UUID.replaceAll(/[a-f]/g, "f").replaceAll(/\d/g, "9")}`,
    "has the first of each kind": `urn:uuid:${UUID.replaceAll(/[a-f]/g, "a").replaceAll(/\d/g, "0")}`,
  }),
  ...breaks(plain, "/instance", {
    "is in capitals": `urn:uuid:${UUID.toUpperCase()}`,
    "is no URN": UUID,
    "is another URN": `urn:uuie:${UUID}`,
    "has no hyphens": `urn:uuid:${UUID.replaceAll("-", "")}0000`,
    // Characters next to the digits in each group, a digit less, and one more.
    ...Object.fromEntries(
      UUID.split("-").flatMap((group, index, groups) =>
        [..."/:`gA", "", "00"].map((begin) => {
          const text = groups.with(index, begin + group.slice(1)).join("-");
          return [`has the groups ${text}`, `urn:uuid:${text}`];
        }),
      ),
    ),
  }),
  ...keeps(plain, "/errorDetails/errorCode", { "is of a later version": "ACCOUNT_SUSPENDED" }),
];

export const problemRows: readonly ResponseRow[] = [...everywhere, ...common];

const ofFailed = {
  ...EXISTING,
  paymentStatus: "TERMINAL_FAILED",
  errorDetails: { errorCode: "x", errorMessage: "x" },
};
const [failed = duplicate] = keeps(duplicate, "/existing", { "is a failed refund": ofFailed });
const [ofPayment = duplicate] = keeps(duplicate, "/existing", { "is a payment": { paymentId: "pay_1" } });
const REFUND = {
  paymentId: text(64),
  clientReferenceId: RETURNED_REFERENCE,
  originalPaymentId: text(64),
  amount: AMOUNT,
};
const status = (...values: readonly string[]) => ({ paymentStatus: { type: "string", enum: values } });

/** The record that holds the key already: a refund with all of its parts, or a payment with none. */
export const duplicateRows: readonly ResponseRow[] = [
  ...[failed, ofPayment],
  ...within(
    duplicate,
    closed({ ...MEMBERS, existing: closed({ ...REFUND, ...status("PENDING", "AUTHORIZED") }) }),
  ),
  ...within(
    failed,
    closed({
      ...MEMBERS,
      existing: closed({ ...REFUND, ...status("TERMINAL_FAILED"), errorDetails: REFUND_ERROR }),
    }),
    /^\/existing\/errorDetails/,
  ),
  ...breaks(duplicate, "/existing/paymentStatus", {
    "is TERMINAL_FAILED without errorDetails": "TERMINAL_FAILED",
  }),
  ...[duplicate, ofPayment].flatMap((row) =>
    breaks(row, "/existing/errorDetails", { "is there": ofFailed.errorDetails }),
  ),
  // A payment has no part of a refund, and a refund has all.
  ...Object.entries(EXISTING)
    .filter(([name]) => name !== "paymentId")
    .flatMap(([name, value]) => breaks(ofPayment, `/existing/${name}`, { "is all of the refund": value })),
];
