import { holderOf } from "../../openapi/document/pointer.ts";
import type { SandboxSchemas, Schemas } from "./contract-document.ts";

/** Every kind of problem (D08). The only module that knows the status of an error. */
export const PROBLEMS = {
  INVALID_REQUEST: {
    status: 400,
    title: "Invalid request",
    detail: "The call is malformed. Send one HTTP request as the contract says.",
  },
  UNAUTHORIZED: {
    status: 401,
    title: "Unauthorized",
    detail:
      "The access token is missing, unknown or expired. Send a valid one as Authorization: Bearer <ACCESS_TOKEN>.",
  },
  FORBIDDEN: {
    status: 403,
    title: "Forbidden",
    detail: "The access token lacks the scope that this operation needs.",
  },
  REFUNDS_HELD: {
    status: 403,
    title: "Refunds held",
    detail:
      "The service holds your refunds for now, so no refund was made. Send the call again later with the same requestKey, or ask us.",
  },
  NOT_FOUND: {
    status: 404,
    title: "Not found",
    detail: "There is no such path. Check the base address; paths match exactly, case and slashes included.",
  },
  PAYMENT_NOT_FOUND: {
    status: 404,
    title: "Payment not found",
    detail: "You have no payment with this paymentId. Check the identifier and the access token.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: "Method not allowed",
    detail: "The path does not support this method. The Allow header lists those that it does.",
  },
  NOT_ACCEPTABLE: {
    status: 406,
    title: "Not acceptable",
    detail: "Accept rules out JSON. Send Accept: application/json.",
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: "Request timeout",
    detail: "The body did not arrive in time. Repeat the call.",
  },
  DUPLICATE_REQUEST_KEY: {
    status: 409,
    title: "Duplicate requestKey",
    detail: "A payment record holds this requestKey already, so no refund was made. See existing.",
  },
  SUBSCRIPTION_LIMIT: {
    status: 409,
    title: "Subscription limit reached",
    detail: "You have 100 live subscriptions. End one first: respond to one of its deliveries with 410.",
  },
  IMPOSSIBLE_MOVE: {
    status: 409,
    title: "Impossible move",
    detail: "The payment can't make this transition from its current status.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    title: "Payload too large",
    detail: "The body is larger than 64 KiB. Send less.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: "Unsupported media type",
    detail:
      "The body must be plain JSON in UTF-8. Send Content-Type: application/json and no Content-Encoding.",
  },
  RATE_LIMITED: {
    status: 429,
    title: "Rate limited",
    detail: "Too many calls. Wait as long as Retry-After says, then repeat the call.",
  },
  INTERNAL_ERROR: {
    status: 500,
    title: "Internal error",
    detail: "Something went wrong on our side. Repeat the call; for a refund, with the same requestKey.",
  },
  UNAVAILABLE: {
    status: 503,
    title: "Unavailable",
    detail:
      "The call can't be served now. Wait as long as Retry-After says, then repeat it; for a refund, with the same requestKey.",
  },
} as const satisfies Record<ProblemCode, Kind>;

/** The codes that we send (D08), the sandbox's included. The contract's type also has any other text, because its list may grow. */
export type ProblemCode =
  | Named<Schemas["ProblemErrorDetails"]["errorCode"]>
  | SandboxSchemas["ImpossibleMoveErrorDetails"]["errorCode"];
type Named<Text> = Text extends unknown ? (string extends Text ? never : Text) : never;
export type Violation = Schemas["Violation"];

type Kind = {
  status: number;
  title: string;
  /** Used when the cause gives no more exact detail. */
  detail: string;
};

/** The members of a problem that its kind does not settle. */
export type ProblemExtras = {
  detail?: string;
  violations?: Violation[];
  existing?: Schemas["ExistingRecord"];
  headers?: Record<string, string>;
  /** Logged, and not sent to the caller. */
  reason?: string;
};

/** A problem as an expected outcome of a handler. */
export type ProblemResponse<Code extends ProblemCode = ProblemCode> = ProblemExtras & {
  code: Code;
};

/** A problem that ends the request where it is thrown. */
export class ProblemError extends Error {
  readonly problem: ProblemResponse;
  constructor(code: ProblemCode, extras: ProblemExtras = {}, options?: ErrorOptions) {
    super(extras.detail ?? PROBLEMS[code].detail, options);
    this.problem = { code, ...extras };
  }
}

/**
 * The request can't be served now; the caller may repeat it soon.
 *
 * @param cause logged as an error
 * @param reason logged with the request
 */
export function unavailable(cause?: unknown, reason?: string, retryAfterSeconds = 1): ProblemError {
  const headers = { "Retry-After": `${retryAfterSeconds}` };
  return new ProblemError("UNAVAILABLE", { headers, ...(reason !== undefined && { reason }) }, { cause });
}

const MAX_VIOLATIONS = 20;
/** A problem's detail has at most 1,000 characters, and contains the first pointer and its message. */
const MAX_POINTER_LENGTH = 800;

/** What merchants log: the first field that is wrong, and what is wrong with it. */
function describe([first]: readonly Violation[], count: number, whole: string): string {
  const more = count > 1 ? ` (${count} errors in all; see violations)` : "";
  return `${first?.pointer || whole} ${first?.message}${more}.`;
}

/**
 * The violations of a request, one for each field that is wrong (D07).
 *
 * @param whole names what an empty pointer means
 */
export function invalidRequest(
  violations: readonly Violation[],
  whole = "The body",
): ProblemResponse<"INVALID_REQUEST"> {
  const shown = violations.slice(0, MAX_VIOLATIONS).map(shortenPointer);
  return { code: "INVALID_REQUEST", detail: describe(shown, violations.length, whole), violations: shown };
}

/** The same as an error, for a step that ends the request. */
export function invalidRequestError(violations: readonly Violation[]): ProblemError {
  const { code, ...extras } = invalidRequest(violations);
  return new ProblemError(code, extras);
}

/** The bytes are not one whole HTTP/1.1 request, or could be read as two different ones. */
export function malformedRequest(message = "did not come as a well-formed HTTP/1.1 request"): ProblemError {
  const { code, ...extras } = invalidRequest([{ pointer: "", message }], "The request");
  return new ProblemError(code, extras);
}

/** A field whose name is too long to repeat is reported at the object that holds it. */
function shortenPointer({ pointer, message }: Violation): Violation {
  if (pointer.length <= MAX_POINTER_LENGTH) return { pointer, message };
  let holder = pointer;
  while (holder.length > MAX_POINTER_LENGTH) holder = holderOf(holder);
  return { pointer: holder, message: `contains a field with a very long name that ${message}` };
}

/** The body of a problem (RFC 9457, D07), for the request with this id. */
export function toProblemBody(problem: ProblemResponse, requestId: string) {
  const { status, title, detail: usual } = PROBLEMS[problem.code];
  const detail = problem.detail ?? usual;
  return {
    type: `/problems/${problem.code.toLowerCase().replaceAll("_", "-")}`,
    title,
    status,
    detail,
    instance: `urn:uuid:${requestId}`,
    errorDetails: { errorCode: problem.code, errorMessage: detail },
    ...(problem.violations && { violations: problem.violations }),
    ...(problem.existing && { existing: problem.existing }),
  };
}
