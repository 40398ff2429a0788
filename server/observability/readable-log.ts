/**
 * Turns a line of the JSON log into one for people, such as `09:30:00 POST /v1/refunds 201 PENDING rfd_019aa5b2 acme 12 ms`.
 * Empty for pages, probes, and the requests of an open console.
 */
export function toReadableLine(json: string): string {
  const entry: Entry = JSON.parse(json);
  const text = describe(entry);
  if (text === undefined) return "";
  const time = new Date(entry.time).toTimeString().slice(0, 8);
  return `${time} ${text}\n`;
}

/** A line of the log, whose fields differ with its message. LOG_FORMAT=json prints all of them. */
type Entry = {
  readonly level: number;
  readonly time: number;
  readonly msg: string;
  readonly err?: LoggedError;
  readonly [field: string]: unknown;
};

type LoggedError = { readonly message?: string; readonly stack?: string; readonly cause?: LoggedError };

/** From pino's level 40 on a line is a warning, from 50 on an error. */
const WARNING = 40;
const ERROR = 50;

/** Of the last error: while a database is gone, all fail for the same reason, which a stack explains once. */
let lastReason: string | undefined;

function describe(entry: Entry): string | undefined {
  const { msg, merchant, paymentId, paymentStatus, status, milliseconds } = entry;
  const trace = entry.trace_id && `trace ${entry.trace_id}`;
  switch (msg) {
    case "request": {
      const { method, path, route = "", errorCode, fromPage, requestId, reason, callerRequestId } = entry;
      const isCall = fromPage !== true && /^\/(v1|sandbox)\//.test(String(route));
      if (method === "GET" && Number(status) < 400 && !isCall) return undefined;
      return join([
        method,
        path ?? route,
        status,
        errorCode ?? paymentStatus,
        reason && `(${reason})`,
        paymentId,
        merchant,
        `${milliseconds} ms`,
        // What a problem calls its instance.
        Number(status) >= 400 && requestId ? `request ${requestId}` : undefined,
        callerRequestId && `x-request-id ${callerRequestId}`,
        trace,
      ]);
    }
    case "delivery": {
      const { event, host, outcome, error } = entry;
      return join([
        "webhook",
        event,
        "to",
        host,
        status ?? error,
        outcome,
        merchant,
        `${milliseconds} ms`,
        trace,
      ]);
    }
    case "subscription": {
      const key = entry.secretForm === "BASE64" ? "the bytes that its base64 stands for" : "its text";
      return join(["subscription", entry.subscriptionKey, "signs by its secretKey:", key, merchant]);
    }
    case "transition":
      return join(["refund", paymentId, "is now", paymentStatus, merchant, trace]);
    default: {
      let kind = entry.level >= WARNING ? "warning:" : undefined;
      if (entry.level >= ERROR) kind = "error:";
      const { err } = entry;
      const reason = err?.message !== undefined && err.message !== msg ? `(${err.message})` : undefined;
      // The stack of an error and of its cause show where it comes from.
      const isNew = entry.level >= ERROR && err?.message !== lastReason;
      if (entry.level >= ERROR) lastReason = err?.message;
      const stacks = isNew ? [err?.stack, err?.cause?.stack].map((stack) => stack && `\n${stack}`) : [];
      return join([kind, msg, reason, ...stacks]);
    }
  }
}

function join(parts: readonly unknown[]): string {
  return parts.filter((part) => part !== undefined && part !== null && part !== "").join(" ");
}
