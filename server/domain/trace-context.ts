/** Reads the W3C trace context that a call sent; undefined when it sent none, or a malformed one. */
export function readTraceContext(headers: Readonly<Record<string, unknown>>): TraceContext | undefined {
  if (typeof headers.traceparent !== "string") return undefined;
  const [, version, traceId, parentId, flags = "", rest] = TRACEPARENT.exec(headers.traceparent) ?? [];
  if (version === undefined || (version === "00" && rest !== undefined)) return undefined;
  // The other flags of a later version may mean something else.
  const known = version === "00" ? flags : toFlags(Number.parseInt(flags, 16) & SAMPLED);
  const traceparent = `00-${traceId}-${parentId}-${known}`;
  const tracestate = readState(headers.tracestate);
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate };
}

/** The trace to which a call belongs, in the form in which deliveries carry it (D33). */
export type TraceContext = {
  /** Of version 00. */
  readonly traceparent: string;
  readonly tracestate?: string;
};

/** Version, trace id, parent id and flags; a later version may have more. Two headers arrive joined by a comma. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/;
const SAMPLED = 1;

const MAX_STATE_CHARACTERS = 512;
const MAX_STATE_MEMBERS = 32;
const STATE_MEMBER = /^[a-z0-9][\w\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

function readState(header: unknown): string | undefined {
  if (typeof header !== "string" || header.length > MAX_STATE_CHARACTERS) return undefined;
  const members = header
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  if (members.length === 0 || members.length > MAX_STATE_MEMBERS) return undefined;
  return members.every((member) => STATE_MEMBER.test(member)) ? members.join(",") : undefined;
}

function toFlags(flags: number): string {
  return flags.toString(16).padStart(2, "0");
}

/** The id that all spans of a trace share, of 32 hexadecimal digits. */
export function traceIdOf(context: TraceContext | null | undefined): string | undefined {
  return context?.traceparent.slice(3, 35);
}

const REQUEST_ID = /^[!-~]{1,128}$/;

/** The caller's own name for a call, if it sent one that the log can hold (D33). */
export function readRequestId(header: unknown): string | undefined {
  return typeof header === "string" && REQUEST_ID.test(header) ? header : undefined;
}
