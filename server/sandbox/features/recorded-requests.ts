import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { authenticate, type FindCaller } from "../../auth/bearer-token.ts";
import type { SandboxSchemas } from "../../contract/contract-document.ts";
import type { HandlersOf } from "../../contract/operation-types.ts";
import { readRequestId, type TraceContext } from "../../domain/trace-context.ts";
import type { HttpResponse, Middleware } from "../../http/request-locals.ts";
import type { WatchedCall } from "./bad-day.ts";
import type { Changes } from "./change-stream.ts";
import { invalid } from "./response-bodies.ts";
import { createRing } from "./ring-buffer.ts";

/**
 * Keeps the latest requests in memory, without access tokens and secrets.
 *
 * @param findCaller of a request that no operation has authenticated
 * @param faultOf the kind of the fault that happened to a call, if any
 * @param onRecord called with every call
 */
export function createRequestMemory(
  changes: Pick<Changes, "notify">,
  findCaller: FindCaller,
  faultOf: (response: HttpResponse) => string | null,
  onRecord: (call: WatchedCall) => void,
): RequestMemory {
  const ring = createRing<Recorded>({
    maxItems: MAX_REQUESTS,
    maxBytes: MAX_BYTES,
    bytesOf: ({ record }) =>
      500 + 2 * ((record.requestBody ?? "").length + (record.responseBody ?? "").length),
  });
  let count = 0;

  return {
    record(request, response, next) {
      const [path = ""] = request.url.split("?");
      const operation = (request.method === "POST" && OPERATIONS[path]) || null;
      const isOther = path.startsWith("/sandbox/") || request.headers.authorization === undefined;
      if (operation === null && isOther) return next();
      const startedAt = performance.now();
      const readBytes = keepBytes(response);
      const recordFor = (merchant: string) => {
        const body = toObject(request.body);
        const responseBody = readBytes();
        count += 1;
        const record: RequestRecord = {
          requestId: `urn:uuid:${response.locals.requestId}`,
          at: new Date().toISOString(),
          operation,
          path: path.slice(0, 100),
          status: response.headersSent ? response.statusCode : null,
          milliseconds: Math.round(performance.now() - startedAt),
          requestKey: toText(body?.requestKey, 255),
          paymentId: toText(response.locals.paymentId, 64),
          ...traceOf(response.locals.trace),
          ...callerIdOf(request.headers),
          requestBody: toRecordedText(response.locals.sentBody, body !== undefined),
          responseBody: responseBody === "" ? null : responseBody.slice(0, MAX_BODY_CHARACTERS),
          fault: faultOf(response),
        };
        ring.add({ number: count, merchant, record });
        const { paymentId, paymentStatus } = response.locals;
        const made =
          operation === "issueRefund" && response.statusCode === 201 && paymentStatus !== undefined;
        const after = response.getHeader("Retry-After");
        if (operation !== null)
          onRecord({
            ...{ ...record, operation, merchant },
            endedAt: Date.now(),
            retryAfter: after === undefined ? undefined : Number(after),
            made: made ? { paymentId: String(paymentId), status: String(paymentStatus) } : undefined,
          });
        changes.notify(["requests", "payments", "webhooks"], merchant);
      };
      response.once("close", () => {
        const { caller } = response.locals;
        if (caller) recordFor(caller.merchant);
        else if (operation === null && response.statusCode >= 400)
          authenticate(request.headers, findCaller).then(
            ({ merchant }) => recordFor(merchant),
            () => {},
          );
      });
      next();
    },

    handlers: {
      async listRequests({ merchant, query: { search, status, limit = DEFAULT_LIMIT, cursor } }) {
        const before = cursor === undefined ? Number.POSITIVE_INFINITY : fromCursor(cursor);
        if (before === undefined) return invalid("/query/cursor", "is not the nextCursor of a page");
        const earlier = ring.list().filter((entry) => entry.merchant === merchant && entry.number < before);
        const found = earlier.filter(
          ({ record }) => isAbout(record, search) && (status ?? record.status) === record.status,
        );
        const page = found.slice(0, limit);
        const last = page.at(-1);
        const nextCursor = last && found.length > limit ? toCursor(last.number) : null;
        return { status: 200, body: { items: page.map(({ record }) => record), nextCursor } };
      },
    },

    forget: (merchant) => ring.removeWhere((entry) => entry.merchant === merchant),
  };
}

type RequestRecord = SandboxSchemas["RequestRecord"];

/** A request with its response, and the number by which pages continue. */
type Recorded = { readonly number: number; readonly merchant: string; readonly record: RequestRecord };

const MAX_REQUESTS = 1_000;
const MAX_BYTES = 4_000_000;
const MAX_BODY_CHARACTERS = 200_000;
const DEFAULT_LIMIT = 20;

const OPERATIONS: Readonly<Record<string, RequestRecord["operation"]>> = {
  "/v1/refunds": "issueRefund",
  "/v1/webhook/subscribe": "subscribeToWebhooks",
};

/** Values of such members are never recorded, however the name is written. */
const SECRET_NAME = /secret|token|password|authorization/i;

export type RequestMemory = {
  /** Records each request whose caller is known, with its response: to the published contract, or to no operation at all. */
  record: Middleware;
  handlers: HandlersOf<"listRequests">;
  forget(merchant: string): void;
};

function traceOf(trace: TraceContext | undefined): Pick<RequestRecord, "traceparent"> {
  return trace ? { traceparent: trace.traceparent } : {};
}

function callerIdOf(headers: IncomingHttpHeaders): Pick<RequestRecord, "callerRequestId"> {
  const callerRequestId = readRequestId(headers["x-request-id"]);
  return callerRequestId === undefined ? {} : { callerRequestId };
}

function keepBytes(response: ServerResponse): () => string {
  let text = "";
  const { write, end } = response;
  const keepBefore =
    (send: typeof write | typeof end) =>
    (...args: unknown[]) => {
      const [chunk] = args;
      if (typeof chunk === "string") text += chunk;
      else if (chunk instanceof Uint8Array) text += Buffer.from(chunk).toString();
      return Reflect.apply(send, response, args);
    };
  Object.assign(response, { write: keepBefore(write), end: keepBefore(end) });
  return () => text;
}

function isAbout(record: RequestRecord, search: string | undefined): boolean {
  if (search === undefined) return true;
  const { requestKey, paymentId, requestId, requestBody } = record;
  return [requestKey, paymentId, requestId, toObject(parse(requestBody))?.paymentId].includes(search);
}

function parse(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}

function toObject(value: unknown): Record<string, unknown> | undefined {
  const isObject = typeof value === "object" && value !== null && !(value instanceof Uint8Array);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

/** A string of at most this many code points, as the contract counts them (D15); null for anything else. */
function toText(value: unknown, maxLength: number): string | null {
  if (typeof value !== "string") return null;
  // A text has at most as many code points as units, so a short one is not counted.
  return value.length <= maxLength || [...value].length <= maxLength ? value : null;
}

/** Every string of a JSON text, and with the name of a member also its value, unless that is a list or an object. */
const STRING = /("(?:[^"\\]|\\.)*")(?:(\s*:\s*)("(?:[^"\\]|\\.)*"|[^\s"{}[\],]+)?)?/g;

/**
 * A JSON object or list as it was sent, apart from its secrets. Null for any other text, and where a secret is more than a
 * single value: nobody can tell then what of it may be shown.
 *
 * @param isParsed whether it is known to be an object or a list
 */
function toRecordedText(bytes: Buffer | undefined, isParsed: boolean): string | null {
  if (!bytes || !isUtf8(bytes)) return null;
  const text = bytes.toString();
  if (!isParsed && !isObjectText(text)) return null;
  if (!text.includes("\\") && !SECRET_NAME.test(text)) return text;
  let isSafe = true;
  const shown = text.replaceAll(STRING, (whole, name: string, colon?: string, value?: string) => {
    if (colon === undefined || !SECRET_NAME.test(JSON.parse(name))) return whole;
    isSafe &&= value !== undefined;
    return `${name}${colon}"[hidden]"`;
  });
  return isSafe ? shown : null;
}

function isObjectText(text: string): boolean {
  try {
    return toObject(JSON.parse(text)) !== undefined;
  } catch {
    return false;
  }
}

function toCursor(number: number): string {
  return Buffer.from(`${number}`).toString("base64url");
}

function fromCursor(cursor: string): number | undefined {
  const text = Buffer.from(cursor, "base64url").toString();
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
