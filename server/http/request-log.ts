import { randomUUID } from "node:crypto";
import type { Request } from "express";
import type { Logger } from "pino";
import { readRequestId, traceIdOf } from "../domain/trace-context.ts";
import type { RequestOutcome } from "../observability/observer.ts";
import type { FindAddress } from "./caller-address.ts";
import { type HttpResponse, type Middleware, toIdentity } from "./request-locals.ts";

/** Gives each request the id that its problem carries as `instance`, and logs its outcome and its caller under that id. */
export function logRequests(
  logger: Logger,
  findAddress: FindAddress,
  observe: (outcome: RequestOutcome) => void = () => {},
): Middleware {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.locals.requestId = randomUUID();
    response.locals.address = findAddress(request);
    response.once("close", () => {
      const outcome = {
        route: toRoute(request),
        status: response.writableFinished ? response.statusCode : ("aborted" as const),
        milliseconds: Math.round(performance.now() - startedAt),
      };
      observe({ ...outcome, traceId: traceIdOf(response.locals.trace) });
      if (logger.isLevelEnabled("info"))
        logger.info({ ...toContext(request, response), ...outcome }, "request");
    });
    next();
  };
}

/** Identifiers only, and the path only of a known route, because an unknown path may hold anything, secrets included. */
function toContext({ method, path, route, headers }: Request, { locals }: HttpResponse) {
  const { subject, clientId, tokenId, address } = toIdentity(locals);
  return {
    requestId: locals.requestId,
    callerRequestId: readRequestId(headers["x-request-id"]),
    trace_id: traceIdOf(locals.trace),
    span_id: locals.spanId,
    merchant: locals.caller?.merchant,
    subject: subject ?? undefined,
    clientId: clientId ?? undefined,
    tokenId: tokenId ?? undefined,
    address: address ?? undefined,
    paymentId: locals.paymentId,
    paymentStatus: locals.paymentStatus,
    errorCode: locals.errorCode,
    reason: locals.reason,
    method,
    path: route ? path : undefined,
    // Sent by browsers alone: a call of the console, or of the docs.
    fromPage: headers["sec-fetch-site"] === "same-origin" || undefined,
  };
}

export function toRoute({ path, route }: Request): string {
  const routed: unknown = route?.path;
  if (Array.isArray(routed)) return path;
  return typeof routed === "string" ? routed.replaceAll(/:(\w+)/g, "{$1}") : "unknown";
}
