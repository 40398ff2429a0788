import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { malformedRequest, unavailable } from "./errors.ts";
import { ProblemError } from "./problem.ts";

/** Gives each request the id that its problem carries as `instance`, and logs its outcome under it. */
export function trackRequests(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.locals.requestId = randomUUID();
    response.on("finish", () => {
      logger.info(
        {
          requestId: response.locals.requestId,
          merchant: response.locals.caller?.merchant,
          method: request.method,
          path: request.path,
          status: response.statusCode,
          milliseconds: Math.round(performance.now() - startedAt),
        },
        "request",
      );
    });
    next();
  };
}

/** While the server drains, a call on a connection that is still open is sent elsewhere. */
export function refuseWhile(isDraining: () => boolean): RequestHandler {
  return (_request, response, next) => {
    if (!isDraining()) return next();
    response.set("Connection", "close");
    throw unavailable();
  };
}

/** HTTP/1.1 asks for exactly one `Host`, and for a target without a fragment (RFC 9112, 3.2). */
export const requireHost: RequestHandler = (request, _response, next) => {
  const hosts = countHeaders(request.rawHeaders, "host");
  if (hosts > 1 || (hosts === 0 && request.httpVersion === "1.1")) throw malformedRequest();
  if (request.url.includes("#")) throw malformedRequest();
  next();
};

/** Headers as they came, names and values in turn; Node drops a second `Host` from the others. */
function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) count += 1;
  }
  return count;
}

const LOCAL_NAMES = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i;

/**
 * The sandbox's tokens are public knowledge. Bound to this machine, it answers only to this machine's names: otherwise a
 * web page could call it through a name of its own that it points at 127.0.0.1.
 */
export const requireLocalHost: RequestHandler = (request, _response, next) => {
  if (!LOCAL_NAMES.test(request.headers.host ?? "")) {
    throw new ProblemError("FORBIDDEN", {
      detail: "The sandbox answers to 127.0.0.1, localhost and [::1] only. Use one of these names.",
    });
  }
  next();
};
