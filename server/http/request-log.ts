import { randomUUID } from "node:crypto";
import type { Request } from "express";
import type { Logger } from "pino";
import { readRequestId, readTraceContext, traceIdOf } from "../domain/trace-context.ts";
import type { RequestOutcome } from "../observability/observer.ts";
import type { FindAddress } from "./caller-address.ts";
import { logRefusals } from "./overload.ts";
import { type HttpResponse, type OfRequest, toIdentity } from "./request-locals.ts";

/** Gives each request the id that its problem carries as `instance`, and logs its outcome and its caller under that id. */
export function logRequests(
  logger: Logger,
  findAddress: FindAddress,
  observe: (outcome: RequestOutcome) => void = () => {},
): OfRequest {
  const countRefusal = logRefusals(logger, "call", "their tokens were not accepted");
  let second = 0;
  let lines = 0;
  /** Anybody can cause a 401, so only some in a second have a line of their own. */
  function isTooMany(): boolean {
    const now = Math.floor(performance.now() / 1_000);
    lines = now === second ? lines + 1 : 1;
    second = now;
    if (lines <= MAX_REFUSED_LINES) return false;
    countRefusal();
    return true;
  }
  return (request, response) => {
    const startedAt = performance.now();
    response.locals.requestId = randomUUID();
    response.locals.address = findAddress(request);
    response.locals.trace = readTraceContext(request.headers);
    response.once("close", () => {
      const outcome = {
        route: toRoute(request),
        status: response.writableFinished ? response.statusCode : ("aborted" as const),
        milliseconds: Math.round(performance.now() - startedAt),
      };
      observe(outcome);
      if (outcome.status === 401 && !response.locals.caller && isTooMany()) return;
      if (logger.isLevelEnabled("info"))
        logger.info({ ...toContext(request, response), ...outcome }, "request");
    });
  };
}

/** Lines in a second for calls whose tokens were not accepted. */
const MAX_REFUSED_LINES = 100;

/** Identifiers only, and the path only of a known route, because an unknown path may hold anything, secrets included. */
function toContext({ method, path, route, headers }: Request, { locals }: HttpResponse) {
  const { subject, clientId, tokenId, address } = toIdentity(locals);
  return {
    requestId: locals.requestId,
    callerRequestId: readRequestId(headers["x-request-id"]),
    trace_id: traceIdOf(locals.trace),
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
