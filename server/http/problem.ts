import type { SandboxSchemas, Schemas } from "./schemas.ts";

/** The closed list of the published contract (D08), and what only the sandbox answers. */
export type ProblemCode =
  | Schemas["ProblemErrorDetails"]["errorCode"]
  | SandboxSchemas["ImpossibleMoveErrorDetails"]["errorCode"];
export type Violation = Schemas["Violation"];

interface Kind {
  status: number;
  title: string;
  /** Said when the place that finds the fault has nothing more exact to say. */
  detail: string;
}

/** Every kind of problem (D08). The only place that knows the status of a fault. */
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
  NOT_FOUND: {
    status: 404,
    title: "Not found",
    detail: "There is no such path. Paths match exactly, case and slashes included.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: "Method not allowed",
    detail: "The path takes another method; see Allow.",
  },
  NOT_ACCEPTABLE: {
    status: 406,
    title: "Not acceptable",
    detail: "Accept admits no JSON. Send Accept: application/json.",
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
    detail: "You have 100 live subscriptions. End one before you make another.",
  },
  IMPOSSIBLE_MOVE: {
    status: 409,
    title: "Impossible move",
    detail: "The payment can't make this move in the status it has.",
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

/** What a problem says beyond its kind. */
export interface ProblemExtras {
  detail?: string;
  violations?: Violation[];
  existing?: Schemas["ExistingRecord"];
  headers?: Record<string, string>;
  /** For the log alone. */
  reason?: string;
}

/** A problem as an expected outcome of a handler. */
export interface ProblemReply<Code extends ProblemCode = ProblemCode> extends ProblemExtras {
  code: Code;
}

/** A problem that ends the call where it is thrown. */
export class ProblemError extends Error {
  readonly problem: ProblemReply;
  constructor(code: ProblemCode, extras: ProblemExtras = {}, options?: ErrorOptions) {
    super(extras.detail ?? PROBLEMS[code].detail, options);
    this.name = "ProblemError";
    this.problem = { code, ...extras };
  }
}

const MAX_VIOLATIONS = 20;
const MAX_POINTER_LENGTH = 1000;

/** The faults of a call: one violation for each field that is wrong (D07). */
export function invalidCall(violations: readonly Violation[]): ProblemReply<"INVALID_REQUEST"> {
  const count = violations.length;
  return {
    code: "INVALID_REQUEST",
    detail: `The call has ${count === 1 ? "one fault" : `${count} faults`}; see violations.`,
    violations: violations.slice(0, MAX_VIOLATIONS).map(shortenPointer),
  };
}

/** The same, where it ends the call. */
export function invalidBody(violations: readonly Violation[]): ProblemError {
  const { code, ...extras } = invalidCall(violations);
  return new ProblemError(code, extras);
}

/** A field's name that is too long to be repeated is told by the object that holds it. */
function shortenPointer({ pointer, message }: Violation): Violation {
  if (pointer.length <= MAX_POINTER_LENGTH) return { pointer, message };
  let holder = pointer;
  while (holder.length > MAX_POINTER_LENGTH) holder = holder.slice(0, holder.lastIndexOf("/"));
  return { pointer: holder, message: `holds a field with a very long name that ${message}` };
}

/** The body of a problem (RFC 9457, D07), for the request with this id. */
export function toProblemBody(reply: ProblemReply, requestId: string) {
  const { status, title, detail: usual } = PROBLEMS[reply.code];
  const detail = reply.detail ?? usual;
  return {
    type: `urn:problem:${reply.code.toLowerCase().replaceAll("_", "-")}`,
    title,
    status,
    detail,
    instance: `urn:uuid:${requestId}`,
    errorDetails: { errorCode: reply.code, errorMessage: detail },
    ...(reply.violations && { violations: reply.violations }),
    ...(reply.existing && { existing: reply.existing }),
  };
}
