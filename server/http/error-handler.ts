import type { Logger } from "pino";
import { CrowdedError } from "../async/bounded-queue.ts";
import { PROBLEMS, ProblemError, unavailable } from "../contract/problem.ts";
import type { ErrorMiddleware, Middleware } from "./request-locals.ts";
import { sendProblem } from "./send-response.ts";

/**
 * Refuses a path that is not served.
 *
 * @param paths the paths that are served, which the problem lists
 * @param isLogged whether the path is logged: it may hold anything, secrets included
 */
export function refusePath(paths: readonly string[], isLogged: boolean): Middleware {
  return ({ path }) => {
    const asked = path.slice(0, 200);
    throw new ProblemError("NOT_FOUND", {
      detail: `There is no ${asked}; the API has ${paths.join(" and ")}. Paths match exactly, case and slashes included.`,
      ...(isLogged && { reason: `no path ${asked}` }),
    });
  };
}

/** Turns every error into a problem. One that the caller did not cause is logged, and reveals only the id of the request. */
export function handleErrors(logger: Logger, isUnavailable: (error: unknown) => boolean): ErrorMiddleware {
  return (error, request, response, _next) => {
    const { requestId, uncount, slot } = response.locals;
    // Given back now, because a response that waits behind others on a broken connection never closes.
    slot?.leave();
    if (response.headersSent) {
      logger.error({ requestId, err: error }, "failed after the response had begun");
      response.destroy();
      return;
    }
    const { problem, cause } = toProblemError(error, isUnavailable);
    response.locals.reason = problem.reason;
    // A call that gets 503 doesn't count for the rate limit, unless the merchant's own calls are the reason (D27).
    if (problem.code === "UNAVAILABLE" && !(cause instanceof CrowdedError)) uncount?.();
    // A deliberate refusal, as while the server drains, has no cause; its line in the request log is enough.
    if (PROBLEMS[problem.code].status >= 500 && cause !== undefined)
      logger.error({ requestId, err: error }, "request failed");
    sendProblem(request, response, problem);
  };
}

function toProblemError(error: unknown, isUnavailable: (error: unknown) => boolean): ProblemError {
  if (error instanceof ProblemError) return error;
  if (isUnavailable(error)) return unavailable(error);
  // A path with a broken percent-encoding, which the router refuses to decode.
  if (error instanceof URIError) return new ProblemError("NOT_FOUND");
  return bodyProblem(error) ?? new ProblemError("INTERNAL_ERROR", {}, { cause: error });
}

/** The problem of a body that Express's own parsers refuse, as the sandbox's inbox uses them. */
function bodyProblem(error: unknown): ProblemError | undefined {
  const status = error instanceof Error && "status" in error ? error.status : undefined;
  if (status === 413) return new ProblemError("PAYLOAD_TOO_LARGE");
  if (status === 415) return new ProblemError("UNSUPPORTED_MEDIA_TYPE");
  return undefined;
}
