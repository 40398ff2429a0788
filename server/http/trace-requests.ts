import { type Attributes, context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Request } from "express";
import { readTraceContext } from "../domain/trace-context.ts";
import { toParent, toTraceContext, tracer } from "../observability/tracing.ts";
import type { HttpResponse, Middleware } from "./request-locals.ts";
import { toRoute } from "./request-log.ts";

/**
 * Notes the trace to which a request belongs (D33). With an SDK the rest of the request runs in a span, which then is what its
 * refund's deliveries refer to.
 */
export const traceRequests: Middleware = (request, response, next) => {
  const sent = readTraceContext(request.headers);
  response.locals.trace = sent;
  if (!tracer) return next();
  const parent = toParent(sent);
  const span = tracer.startSpan(
    toName(request),
    { kind: SpanKind.SERVER, attributes: toAttributes(request) },
    parent,
  );
  response.locals.trace = toTraceContext(span.spanContext());
  response.locals.spanId = span.spanContext().spanId;
  response.once("close", () => end(span, request, response));
  context.with(trace.setSpan(parent, span), next);
};

/** Others are names that callers invent, of which there could be any number. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];

function toName({ method }: Request): string {
  return METHODS.includes(method) ? method : "HTTP";
}

function toAttributes({ method, protocol, httpVersion, hostname, socket }: Request): Attributes {
  return {
    "http.request.method": METHODS.includes(method) ? method : "_OTHER",
    "url.scheme": protocol,
    "network.protocol.version": httpVersion,
    "server.address": hostname,
    "server.port": socket.localPort,
  };
}

/** The path of a known route only, because an unknown one may hold anything, secrets included. */
function end(span: Span, request: Request, { locals, statusCode, writableFinished }: HttpResponse): void {
  const route = toRoute(request);
  if (route !== "unknown") {
    span.updateName(`${toName(request)} ${route}`);
    span.setAttributes({ "http.route": route, "url.path": request.path });
  }
  if (locals.address !== null) span.setAttribute("client.address", locals.address);
  if (writableFinished) span.setAttribute("http.response.status_code", statusCode);
  const error = writableFinished ? (statusCode >= 500 ? `${statusCode}` : undefined) : "aborted";
  if (error !== undefined) {
    span.setAttribute("error.type", error);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
