import {
  amount,
  breaks,
  closed,
  keeps,
  type ResponseRow,
  refundErrorDetails,
  returnedReference,
  text,
} from "./message.ts";
import type { OperationId } from "./row.ts";
import { NOT_A_LIST, NOT_A_TEXT } from "./values.ts";

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
/** Codes of no operation, or of the other one: all problems share one list. */
const CODES = [
  ...new Set(Object.values(PROBLEMS).flatMap((codes) => Object.values(codes))),
  "METHOD_NOT_ALLOWED",
];

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
  mediaType = MEDIA_TYPES[0] ?? "",
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

/** Every problem of every operation, as both media types. */
const everywhere = (Object.keys(PROBLEMS) as OperationId[]).flatMap((operation) =>
  Object.keys(PROBLEMS[operation]).flatMap((status) =>
    MEDIA_TYPES.flatMap((mediaType) => {
      const row = problem(operation, Number(status), mediaType);
      const extra = { violations: [VIOLATION], existing: EXISTING };
      const others = Object.entries(extra).filter(([name]) => !(name in (row.body as object)));
      return [
        row,
        ...breaks(row, "", { "is empty": {}, "is a refund": EXISTING }),
        ...others.flatMap(([name, value]) => breaks(row, `/${name}`, { "is of another problem": value })),
      ];
    }),
  ),
);

const wrongTypes = (Object.keys(PROBLEMS) as OperationId[]).flatMap((operation) =>
  Object.keys(PROBLEMS[operation]).flatMap((status) => {
    const row = problem(operation, Number(status));
    return ["text/plain", "text/html", "application/xml"].map((type) => ({
      ...row,
      name: `${operation} ${status} as ${type}`,
      headers: { ...row.headers, "Content-Type": type },
      allowed: false,
    }));
  }),
);

const MEMBERS = ["type", "title", "status", "detail", "instance", "errorDetails"];
const plain = problem("issueRefund", 404);
const invalid = problem("issueRefund", 400);

const common: ResponseRow[] = [
  ...closed(plain, "", MEMBERS),
  ...closed(invalid, "", [...MEMBERS, "violations"]),
  ...closed(problem("issueRefund", 409), "", [...MEMBERS, "existing"]),
  ...keeps(plain, "/type", { "is short": "a:b", "has 100 characters": `urn:${"x".repeat(96)}` }),
  ...breaks(plain, "/type", {
    ...NOT_A_TEXT,
    "is empty": "",
    "has 101 characters": `urn:${"x".repeat(97)}`,
    "is no URI": "not a URI",
    "is a path": "/problems/x",
  }),
  ...text(plain, "/title", { max: 100 }),
  ...text(plain, "/detail", { max: 1000 }),
  ...keeps(plain, "/status", { "is 400": 400, "is 599": 599 }),
  ...breaks(plain, "/status", {
    "is 399": 399,
    "is 600": 600,
    "is broken": 404.5,
    "is a text": "404",
    "is null": null,
  }),
  ...keeps(plain, "/instance", {
    "has the last of each kind": `urn:uuid:${UUID.replaceAll(/[a-f]/g, "f").replaceAll(/\d/g, "9")}`,
    "has the first of each kind": `urn:uuid:${UUID.replaceAll(/[a-f]/g, "a").replaceAll(/\d/g, "0")}`,
  }),
  ...breaks(plain, "/instance", {
    ...NOT_A_TEXT,
    "is in capitals": `urn:uuid:${UUID.toUpperCase()}`,
    "is no URN": UUID,
    "is another URN": `urn:uuie:${UUID}`,
    "has no hyphens": `urn:uuid:${UUID.replaceAll("-", "")}0000`,
    ...Object.fromEntries(
      UUID.split("-").flatMap((group, index) => [
        ...[..."/:`gA"].map((digit) => [
          `has ${digit} in group ${index + 1}`,
          withGroup(index, digit + group.slice(1)),
        ]),
        [`lacks a digit of group ${index + 1}`, withGroup(index, group.slice(1))],
        [`has a digit more in group ${index + 1}`, withGroup(index, `0${group}`)],
      ]),
    ),
  }),
  ...closed(plain, "/errorDetails", ["errorCode", "errorMessage"]),
  ...keeps(plain, "/errorDetails/errorCode", Object.fromEntries(CODES.map((code) => [`is ${code}`, code]))),
  ...breaks(plain, "/errorDetails/errorCode", {
    ...NOT_A_TEXT,
    "is OTHER": "OTHER",
    "is in small letters": "not_found",
    "is of a refund": "CUSTOMER_NOT_DEBITED",
  }),
  ...text(plain, "/errorDetails/errorMessage", { max: 1000 }),
];

function withGroup(index: number, group: string): string {
  return `urn:uuid:${UUID.split("-").with(index, group).join("-")}`;
}

/** Each additional member of some problems is tested once, because they share its schema. */
const shared = [invalid, problem("issueRefund", 409)].flatMap((row) =>
  Object.entries({
    type: "not a URI",
    title: "",
    status: 399,
    detail: "",
    instance: UUID,
    errorDetails: { errorCode: "OTHER", errorMessage: "x" },
  }).flatMap(([name, value]) => breaks(row, `/${name}`, { "is broken": value })),
);

const violations: ResponseRow[] = [
  ...keeps(invalid, "/violations", { "are 20": Array(20).fill(VIOLATION) }),
  ...breaks(invalid, "/violations", { ...NOT_A_LIST, "are none": [], "are 21": Array(21).fill(VIOLATION) }),
  ...closed(invalid, "/violations/0", ["pointer", "message"]),
  ...text(invalid, "/violations/0/pointer", { min: 0, max: 1000 }),
  ...text(invalid, "/violations/0/message", { max: 1000 }),
];

export const problemRows: readonly ResponseRow[] = [
  ...everywhere,
  ...wrongTypes,
  ...common,
  ...shared,
  ...violations,
];

const duplicate = problem("issueRefund", 409);
const ofFailed = {
  ...EXISTING,
  paymentStatus: "TERMINAL_FAILED",
  errorDetails: { errorCode: "x", errorMessage: "x" },
};
const [failed = duplicate] = keeps(duplicate, "/existing", { "is a failed refund": ofFailed });
const [ofPayment = duplicate] = keeps(duplicate, "/existing", { "is a payment": { paymentId: "pay_1" } });
const PARTS = ["clientReferenceId", "originalPaymentId", "amount"] as const;

/** The record that holds the key already: a refund with all of its parts, or a payment with none. */
export const duplicateRows: readonly ResponseRow[] = [
  failed,
  ofPayment,
  ...closed(duplicate, "/existing", ["paymentId", "paymentStatus", ...PARTS]),
  ...text(duplicate, "/existing/paymentId", { max: 64 }),
  ...text(duplicate, "/existing/originalPaymentId", { max: 64 }),
  ...amount(duplicate, "/existing/amount"),
  ...returnedReference(duplicate, "/existing/clientReferenceId"),
  ...keeps(duplicate, "/existing/paymentStatus", { "is AUTHORIZED": "AUTHORIZED" }),
  ...breaks(duplicate, "/existing/paymentStatus", {
    "is OTHER": "OTHER",
    "is TERMINAL_FAILED without errorDetails": "TERMINAL_FAILED",
  }),
  ...breaks(duplicate, "/existing/errorDetails", { "is there": ofFailed.errorDetails }),
  ...breaks(ofPayment, "/existing/errorDetails", { "is there": ofFailed.errorDetails }),
  ...refundErrorDetails(failed, "/existing/errorDetails"),
  // A payment has no part of a refund, and a refund has all.
  ...["paymentStatus", ...PARTS].flatMap((name) =>
    breaks(ofPayment, `/existing/${name}`, {
      "is all of the refund": EXISTING[name as keyof typeof EXISTING],
    }),
  ),
];
