import { randomUUID } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { malformedRequest, unavailable } from "./errors.ts";
import { ProblemError } from "./problem.ts";

/** An answered request, as it is counted. */
export interface Outcome {
  /** The path as the contract writes it, or "unknown": what callers make up is no good name for a series. */
  route: string;
  /** "aborted" when the caller was gone before the answer. */
  status: number | "aborted";
  milliseconds: number;
}

/** Gives each request the id that its problem carries as `instance`, and logs its outcome under it. */
export function trackRequests(
  logger: Logger,
  observe: (outcome: Outcome) => void = () => {},
): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.locals.requestId = randomUUID();
    response.once("close", () => {
      const outcome = {
        route: toRoute(request),
        status: response.writableFinished ? response.statusCode : ("aborted" as const),
        milliseconds: Math.round(performance.now() - startedAt),
      };
      observe(outcome);
      logger.info({ ...toContext(request, response), ...outcome }, "request");
    });
    next();
  };
}

/** Only ids, and a path only where it is one of ours: callers put all sorts of things into wrong ones. */
function toContext(request: Request, { locals }: Response) {
  return {
    requestId: locals.requestId,
    merchant: locals.caller?.merchant,
    paymentId: locals.paymentId,
    reason: locals.reason,
    method: request.method,
    path: request.route ? request.path : undefined,
  };
}

function toRoute(request: Request): string {
  const path: unknown = request.route?.path;
  if (Array.isArray(path)) return request.path;
  return typeof path === "string" ? path.replaceAll(/:(\w+)/g, "{$1}") : "unknown";
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
