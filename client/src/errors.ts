import type { ExistingRecord, Problem, ProblemErrorCode, Violation } from "./types.ts";

/** The facts known about a call, while it is in progress and when it has failed; every error of a call has them. */
export type CallProgress = {
  /** The number of requests that were sent. */
  attempts: number;
  /**
   * Whether the service may have carried out one of them although the call failed: it got no response, a 5xx, or a 409 whose
   * `existing` may be this very refund, because a gateway sent the request twice. To find out, repeat the refund with the same
   * `requestKey` and `{ repeated: true }`.
   */
  outcomeUnknown: boolean;
};

/** A call without a result. `name` says which kind of error it is. */
export abstract class CallError extends Error implements Readonly<CallProgress> {
  readonly attempts: number;
  readonly outcomeUnknown: boolean;

  constructor(message: string, { attempts, outcomeUnknown }: CallProgress, options?: ErrorOptions) {
    super(message, options);
    this.attempts = attempts;
    this.outcomeUnknown = outcomeUnknown;
  }
}

/**
 * Statuses that show that no attempt made the refund: they depend only on the request, which is the same each time. The `existing` of
 * a 409 may be that refund; `mayExist` says so.
 */
const DECISIVE_STATUSES: readonly number[] = [400, 404, 406, 409, 413, 415];

/** A call that the service refused with a problem. */
export class ProblemError extends CallError {
  override readonly name = "ProblemError";
  readonly status: number;
  /** For programs. Later versions of the service may send codes that this version of the client does not know. */
  readonly errorCode: ProblemErrorCode;
  /** Every violation of the body; empty unless `status` is 400. */
  readonly violations: readonly Violation[];
  /** The record that has the `requestKey`; present only when the `errorCode` is `DUPLICATE_REQUEST_KEY`. */
  readonly existing: ExistingRecord | undefined;
  /** Quote it when you contact the service about the call. */
  readonly requestId: string | undefined;
  /** The whole body. */
  readonly problem: Problem;
  readonly response: Response;

  /** @param mayExist whether `existing` may be what the call asked for */
  constructor(
    { body, response }: { body: Problem; response: Response },
    progress: CallProgress,
    mayExist = false,
  ) {
    const { violations = [], existing }: Problem & { violations?: Violation[]; existing?: ExistingRecord } =
      body;
    const { errorCode, errorMessage } = body.errorDetails;
    const lines = violations.map(({ pointer, message }) => `\n${pointer || "body"}: ${message}`);
    const outcomeUnknown =
      mayExist || (progress.outcomeUnknown && !DECISIVE_STATUSES.includes(response.status));
    super(`${errorCode}: ${errorMessage}${lines.join("")}`, { ...progress, outcomeUnknown });
    this.status = response.status;
    this.errorCode = errorCode;
    this.violations = violations;
    this.existing = existing;
    this.requestId = toRequestId(body);
    this.problem = body;
    this.response = response;
  }
}

/** A response that the service never sends, such as an HTML page of a load balancer, or a redirect. */
export class UnexpectedResponseError extends CallError {
  override readonly name = "UnexpectedResponseError";
  readonly status: number;
  readonly response: Response;
  /** The body, unparsed. */
  readonly text: string;

  constructor(response: Response, text: string, progress: CallProgress) {
    const start = text.trim().slice(0, 100);
    const excerpt = start && ` It begins: ${start}`;
    const { status, url } = response;
    super(`The response ${status} from ${url} is not the service's.${excerpt}`, progress);
    this.status = status;
    this.response = response;
    this.text = text;
  }
}

/** There was no response, an incomplete one, or no access token. The `cause` is the error that was thrown. */
export class NetworkError extends CallError {
  override readonly name = "NetworkError";

  constructor(cause: unknown, progress: CallProgress) {
    super(`No response: ${Object(cause).cause ?? cause}`, progress, { cause });
  }
}

/** There was no complete response in time. */
export class TimeoutError extends CallError {
  override readonly name = "TimeoutError";
  /** The time limit of the last attempt, in milliseconds. */
  readonly timeoutMs: number;

  constructor(timeoutMs: number, progress: CallProgress) {
    super(`No response within ${Math.round(timeoutMs)} ms.`, progress);
    this.timeoutMs = timeoutMs;
  }
}

/** An amount that can't be sent exactly. No request was sent. */
export class InvalidAmountError extends CallError {
  override readonly name = "InvalidAmountError";
  readonly field = "amount";

  constructor(message: string) {
    super(`amount: ${message}`, { attempts: 0, outcomeUnknown: false });
  }
}

export function toRequestId({ instance }: { instance?: unknown }): string | undefined {
  return typeof instance === "string" ? instance.replace(/^urn:uuid:/, "") : undefined;
}
