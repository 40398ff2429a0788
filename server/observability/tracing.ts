import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { TraceContext } from "../domain/trace-context.ts";

/**
 * The tracer of the SDK that was loaded by `--import`, before this module. Without one nothing is traced, and each function here
 * ends at its first line: spans that nobody collects would cost every refund.
 */
export const tracer: Tracer | undefined = findTracer();

function findTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  const name = "refund-contract";
  // The API has a provider of its own while there is none; the SDK may use another copy of the API, and so another class.
  return "getDelegateTracer" in provider
    ? (provider as { getDelegateTracer(name: string): Tracer | undefined }).getDelegateTracer(name)
    : provider.getTracer(name);
}

/** The context in which the work for a call is the child of its caller's span. */
export function toParent(from: TraceContext | undefined): Context {
  const remote = from && toSpanContext(from);
  return remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT;
}

function toSpanContext({ traceparent, tracestate }: TraceContext): SpanContext {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: createTraceState(tracestate) }),
  };
}

/** A span as deliveries send it, days after it has ended (D33). */
export function toTraceContext({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const flags = traceFlags.toString(16).padStart(2, "0");
  const tracestate = traceState?.serialize();
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(tracestate && { tracestate }) };
}

/** Links to calls, such as those that issued refunds. */
export function linksTo(calls: readonly (TraceContext | null | undefined)[]): Link[] {
  return calls.flatMap((call) => (call ? { context: toSpanContext(call) } : []));
}

/** The span that is active now, as the link by which later work refers to it. */
export function linkToActive(): Link | undefined {
  const active = tracer && trace.getActiveSpan()?.spanContext();
  return active && { context: active };
}

/** The ids of the active span, under the names that OpenTelemetry gives them in logs. */
export function activeIds(): { trace_id?: string; span_id?: string } {
  const active = trace.getActiveSpan()?.spanContext();
  return active ? { trace_id: active.traceId, span_id: active.spanId } : {};
}

/**
 * Runs work in a span that begins a trace of its own, because it serves several calls, or one of days ago: links lead to these.
 *
 * @param work gets the span, if there is one, to say more of it
 */
export function inLinkedSpan<Result>(
  name: string,
  links: readonly (Link | undefined)[],
  work: (span: Span | undefined) => Promise<Result>,
  options: SpanOptions = {},
): Promise<Result> {
  if (!tracer) return work(undefined);
  const known = links.filter((link) => link !== undefined);
  return inSpan(tracer.startSpan(name, { ...options, links: known }, ROOT_CONTEXT), ROOT_CONTEXT, work);
}

async function inSpan<Result>(
  span: Span,
  parent: Context,
  work: (span: Span) => Promise<Result>,
): Promise<Result> {
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** The message of an error is left out: those of the database may repeat values. */
function markFailed(span: Span, error: unknown): void {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code === "string") span.setAttribute("db.response.status_code", code);
  span.setAttribute(
    "error.type",
    typeof code === "string" ? code : error instanceof Error ? error.name : "_OTHER",
  );
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** A statement in a span below the active one. What nothing else is traced of, such as looking for due work, has none. */
export function inStatementSpan<Result>(text: string, run: () => Promise<Result>): Promise<Result> {
  if (!tracer || !trace.getActiveSpan()) return run();
  const { name, attributes } = describe(text);
  const parent = context.active();
  return inSpan(tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent), parent, run);
}

type Described = { readonly name: string; readonly attributes: Attributes };

const described = new Map<string, Described>();
/** Statements for lists differ with the length of the list. */
const MAX_DESCRIBED = 500;

/** What a statement does to which table. Its text is left out, because on a cluster it may hold values. */
function describe(text: string): Described {
  const known = described.get(text);
  if (known) return known;
  const change = /\b(insert into|update|delete from)\s+"?(\w+)/i.exec(text);
  const [, table] = /\bfrom\s+"?(\w+)/i.exec(text) ?? [];
  const [first = ""] = /[a-z]+/i.exec(text) ?? [];
  const operation = (change?.[1]?.split(" ")[0] ?? (table === undefined ? first : "select")).toUpperCase();
  const collection = change?.[2] ?? table;
  const name = [operation, collection].filter(Boolean).join(" ");
  const description = {
    name,
    attributes: {
      "db.system.name": "postgresql",
      "db.operation.name": operation,
      "db.query.summary": name,
      ...(collection !== undefined && { "db.collection.name": collection }),
    },
  };
  if (described.size < MAX_DESCRIBED) described.set(text, description);
  return description;
}
