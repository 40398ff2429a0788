import createFetchClient, { type Middleware } from "openapi-fetch";
import type { paths } from "../../openapi/generated/types.ts";
import { OPERATIONS } from "../../openapi/generated/values.ts";
import { type Clock, realClock } from "./clock.ts";
import { type CallProgress, UnexpectedResponseError } from "./errors.ts";
import { isObject, parseJson } from "./json.ts";
import { type AttemptReport, createRetryingFetch } from "./retry.ts";
import type { AccessToken, Fetch } from "./send-once.ts";
import { toTraceHeaders } from "./trace-headers.ts";
import type { Input, OperationId, Result } from "./types.ts";

/** Creates the function that calls an operation of the contract by openapi-fetch, again if `repetition` says so. */
export function createCall(client: ClientOptions): Call {
  const { baseUrl, accessToken, fetch, clock = realClock, random = Math.random, onAttempt } = client;
  const api = createFetchClient<paths>({
    baseUrl,
    headers: { Accept: "application/json" },
    // Programs without types pass whole amounts as bigints, which JSON has no form for.
    bodySerializer: (body) =>
      JSON.stringify(body, (_, value) => (typeof value === "bigint" ? Number(value) : value)),
    // Following redirects is unsafe: a 301 would turn the call into a GET, and a 308 would disclose the token to its target.
    redirect: "manual",
  });

  return async (id, input, options = {}, repetition = { maxAttempts: 1 }) => {
    const [method, path, success] = OPERATIONS[id];
    const { progress = { attempts: 0, outcomeUnknown: false } } = repetition;
    const retryingFetch = createRetryingFetch({
      operation: id,
      accessToken,
      // Looked up for each call, because instrumentation may have replaced it.
      fetch: fetch ?? globalThis.fetch,
      clock,
      random,
      onAttempt,
      signal: options.signal,
      ...toLimits(client, options, repetition),
      progress,
    });
    const request = { params: { path: input }, body: (method as string) === "get" ? undefined : input };
    // The type of this call takes one path, not a union; the type of `Call` makes sure that operation and input belong together.
    const { data, error, response } = await api.request(method as "post", path as "/v1/refunds", {
      ...(request as { body: Input<"issueRefund"> }),
      headers: toTraceHeaders(),
      fetch: retryingFetch,
      middleware: [refuseForeign(success, progress)],
    });
    // The tests of the server check its responses against the contract, so the client does not check them again.
    return { status: response.status, body: data ?? error, response } as unknown as Result<typeof id>;
  };
}

/** Limits of one call. */
export type CallOptions = {
  /** Aborts the call, even while it waits for the next attempt: the call then throws the signal's reason. */
  signal?: AbortSignal;
  /** Milliseconds that one attempt may take; 15,000 by default. */
  attemptTimeoutMs?: number;
  /** Milliseconds that all attempts and the pauses between them may take; 60,000 by default. */
  totalTimeoutMs?: number;
};

export type ClientOptions = Omit<CallOptions, "signal"> & {
  /** The address of the service, such as `https://payments.example.com`. */
  baseUrl: string;
  /** Sent as `Authorization: Bearer …`. A function is called before each request, for tokens that expire. */
  accessToken: AccessToken;
  /** Used instead of the runtime's own `fetch`, once for each attempt, such as for proxies and tracing. */
  fetch?: Fetch;
  /** The most attempts of `refunds.issue` and `webhooks.subscribe`; 4 by default, and 1 means no retries. */
  maxAttempts?: number;
  /** Called after each request, for logs and metrics. Errors that it throws are ignored. */
  onAttempt?: (report: AttemptReport) => void;
  /** For tests: replaces the clock, and below the random numbers. */
  clock?: Clock;
  random?: () => number;
};

/** How a call is retried; without this, it is sent once. */
export type Repetition = { maxAttempts: number | undefined; progress?: CallProgress };

export type Call = <Id extends OperationId>(
  id: Id,
  input: Input<Id>,
  options?: CallOptions,
  repetition?: Repetition,
) => Promise<Result<Id>>;

const DEFAULTS = { attemptTimeoutMs: 15_000, totalTimeoutMs: 60_000, maxAttempts: 4 };

/** Some three weeks: a timer of more than 2 ** 31 milliseconds would fire at once. */
const MAX_TIMER_MS = 2e9;

/**
 * Merges limits; later arguments win.
 *
 * @throws RangeError for a limit that is not a number, such as a missing setting that was converted: it would limit nothing
 */
function toLimits(...settings: readonly Partial<Record<keyof typeof DEFAULTS, unknown>>[]): typeof DEFAULTS {
  const limits = { ...DEFAULTS };
  for (const name of Object.keys(limits) as (keyof typeof DEFAULTS)[]) {
    for (const setting of settings) {
      const value = Number(setting[name] ?? limits[name]);
      if (!(value >= 0)) throw new RangeError(`${name}: ${setting[name]}`);
      limits[name] = Math.min(value, MAX_TIMER_MS);
    }
  }
  return limits;
}

/** Throws for a response that is not the service's. openapi-fetch would report no error for an empty one. */
function refuseForeign(success: number, progress: CallProgress): Middleware {
  return {
    async onResponse({ response }) {
      const text = await response.clone().text();
      const body = isJson(response) ? parseJson(text) : undefined;
      const isFromService = response.status === success ? isObject(body) : isProblem(body);
      // A proxy may have sent this response, before or after it forwarded the request.
      if (!isFromService)
        throw new UnexpectedResponseError(response, text, { ...progress, outcomeUnknown: true });
    },
  };
}

function isJson(response: Response): boolean {
  return /^application\/(problem\+)?json\b/i.test(response.headers.get("content-type") ?? "");
}

/** Gateways send their own JSON, which has no error code. */
function isProblem(body: unknown): boolean {
  return isObject(body) && isObject(body.errorDetails) && typeof body.errorDetails.errorCode === "string";
}
