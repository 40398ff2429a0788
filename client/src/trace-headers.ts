/**
 * The headers of the caller's trace, from the OpenTelemetry SDK that the caller has loaded, if any. None where an instrumentation
 * of Node's `fetch` adds them, because a second `traceparent` would make both void.
 */
export function toTraceHeaders(): TraceHeaders {
  const headers: TraceHeaders = {};
  const { process, [TELEMETRY]: { context, propagation } = {} } = globalThis as Runtime;
  const isAdded = process?.getBuiltinModule?.("diagnostics_channel").hasSubscribers("undici:request:create");
  if (context && !isAdded) propagation?.inject(context.active(), headers, { set });
  return headers;
}

/** The parts of an OpenTelemetry SDK and of Node that are used here. */
type Runtime = {
  [TELEMETRY]?: {
    context?: { active(): unknown };
    propagation?: { inject(context: unknown, carrier: TraceHeaders, setter: { set: typeof set }): void };
  };
  process?: { getBuiltinModule?(id: string): { hasSubscribers(channel: string): boolean } };
};
type TraceHeaders = Record<string, string>;

const TELEMETRY = Symbol.for("opentelemetry.js.api.1");

/** Only those that trace: others, such as baggage, may hold private data. */
function set(headers: TraceHeaders, name: string, value: string): void {
  if (/^trace/.test(name)) headers[name] = value;
}
