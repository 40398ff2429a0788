import { setTimeout } from "node:timers/promises";
import { authenticate, type Caller, type FindCaller } from "../auth/bearer-token.ts";
import { ProblemError } from "../contract/problem.ts";
import { PAUSE_MS } from "./overload.ts";
import type { LimitRate } from "./rate-limiter.ts";
import type { Deadline } from "./request-deadline.ts";
import type { Middleware } from "./request-locals.ts";

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

export type AccessOptions = {
  findCaller: FindCaller;
  /** Throws for a caller whom an operator has blocked. */
  refuseBlocked: (caller: Caller) => void;
  limitRate: LimitRate;
  /** Bounds how long a request waits until its access token is verified. */
  deadline: Deadline;
};

/** Throws `FORBIDDEN` when the caller lacks one of the scopes. */
function authorize(caller: Caller, scopes: readonly string[]): void {
  const missing = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new ProblemError("FORBIDDEN", {
    detail: `The access token lacks the scope that this operation needs: ${missing.join(", ")}.`,
    headers: { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${missing.join(" ")}"` },
  });
}
