import { setTimeout } from "node:timers/promises";
import { authenticate, authorize, type Caller, type FindCaller } from "../auth/bearer-token.ts";
import { ProblemError } from "../contract/problem.ts";
import type { Deadline } from "./deadline.ts";
import { PAUSE_MS } from "./overload.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import type { Middleware, RequestLocals } from "./request-locals.ts";

/** Counts a request, and leaves in its locals what undoes that. Resolves with the limit's headers. Throws `RATE_LIMITED`. */
export type LimitRate = (merchant: string, locals: RequestLocals) => Promise<Record<string, string>>;

/**
 * The limit as HTTP headers (D27), such as `RateLimit-Policy: "merchant";q=100;w=1` and `RateLimit: "merchant";r=199;t=1`.
 * @param limiter undefined: no limit, and no headers
 */
export function limitRate(limiter: RateLimiter | undefined): LimitRate {
  if (!limiter) return async () => ({});
  const policy = { "RateLimit-Policy": `"merchant";q=${limiter.requestsPerSecond};w=1` };
  return async (merchant, locals) => {
    const { remaining, fullInMs, waitMs } = await limiter.take(merchant);
    const headers = { ...policy, RateLimit: `"merchant";r=${remaining};t=${Math.ceil(fullInMs / 1000)}` };
    if (waitMs === 0) {
      locals.uncount = () => limiter.charge(merchant, -1);
      return headers;
    }
    const retryAfter = `${Math.ceil(waitMs / 1000)}`;
    throw new ProblemError("RATE_LIMITED", { headers: { ...headers, "Retry-After": retryAfter } });
  };
}

export type AccessOptions = {
  findCaller: FindCaller;
  /** Throws for a caller whom an operator has blocked. */
  refuseBlocked: (caller: Caller) => void;
  limitRate: LimitRate;
  /** Bounds how long a request waits until its access token is verified. */
  deadline: Deadline;
};

/** Checks token and block (401) and scopes (403), then counts the request for its merchant (503) and the rate limit (429). */
export function requireAccess(
  scopes: readonly string[],
  { findCaller, refuseBlocked, limitRate, deadline }: AccessOptions,
): Middleware {
  return async (request, response, next) => {
    const headers = await deadline(response, async ({ signal }) => {
      const caller = await authenticate(request.headers, findCaller);
      signal.throwIfAborted();
      response.locals.caller = caller;
      refuseBlocked(caller);
      authorize(caller, scopes);
      response.locals.slot?.assign(caller.merchant);
      const limit = await limitRate(caller.merchant, response.locals).catch(async (error: unknown) => {
        response.locals.slot?.leave();
        await setTimeout(PAUSE_MS);
        throw error;
      });
      if (signal.aborted) response.locals.uncount?.(); // its 503 has been sent meanwhile
      return limit;
    });
    response.set(headers);
    next();
  };
}
