import { type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { inLinkedSpan, linksTo, tracer } from "../observability/tracing.ts";
import type { AttemptResult } from "../storage/statements/attempts.ts";
import type { Attempt } from "../storage/statements/claims.ts";

/**
 * Runs an attempt in a span of its own, by the conventions for messaging: the call that issued the refund created the message, and
 * its context is what the delivery carries, so the attempt is linked to it.
 */
export function inAttemptSpan(
  attempt: Attempt,
  work: (span: Span | undefined) => Promise<void>,
): Promise<void> {
  if (!tracer) return work(undefined);
  const { url, payload, webhookId, earlierAttempts, trace } = attempt;
  const event: string = JSON.parse(payload).type;
  const { hostname, port, protocol } = new URL(url);
  return inLinkedSpan(`send ${event}`, linksTo([trace]), work, {
    kind: SpanKind.CLIENT,
    attributes: {
      "messaging.system": "webhook",
      "messaging.operation.name": "send",
      "messaging.operation.type": "send",
      "messaging.destination.name": event,
      "messaging.message.id": webhookId,
      "messaging.message.body.size": Buffer.byteLength(payload),
      "server.address": hostname,
      "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
      "http.request.method": "POST",
      "http.request.resend_count": earlierAttempts,
    },
  });
}

export function describeResult(span: Span, { status, error, outcome }: AttemptResult): void {
  if (status !== null) span.setAttribute("http.response.status_code", status);
  span.setAttribute("refund_contract.outcome", outcome.kind);
  if (error === null) return;
  span.setAttribute("error.type", status === null ? "no response" : `${status}`);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
