import { type Client, type Dispatcher, errors } from "undici";
import { type Connections, type ConnectOptions, createClient } from "./connections.ts";
import { UnresolvedNameError } from "./resolver.ts";
import { ForbiddenAddressError, findTargetError } from "./target.ts";
import { ProxyError } from "./tunnel.ts";

/** A request to a receiver. */
export type WebhookRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type SendOptions = ConnectOptions & {
  /** Milliseconds for the whole attempt: connection, head, and the part of the body that is read (D23). */
  readonly timeoutMs: number;
  /** Where connections are kept between deliveries; without it each delivery has one of its own. */
  readonly connections?: Connections;
  /** Ends the attempt before its timeout. */
  readonly signal: AbortSignal;
};

/** The receiver's response, or why there is none. */
export type SendResult = {
  /** Null when there was no response. */
  readonly status: number | null;
  /** Null only for success, which is a 2xx. */
  readonly error: string | null;
  readonly retryAfter: string | undefined;
  /** The first 1,024 bytes of the response's body; null when there was no response. */
  readonly bodyStart: string | null;
  /** Whether the receiver, or the nameserver of its host, was silent until a timeout. */
  readonly timedOut: boolean;
};

const BODY_KEPT_BYTES = 1_024;
const BODY_READ_BYTES = 64 * 1_024;

/**
 * Sends one request over a connection that nothing else uses meanwhile: no redirects, no proxies but the configured one, the form
 * of the target checked again (D24). Never rejects.
 */
export async function send(request: WebhookRequest, options: SendOptions): Promise<SendResult> {
  const targetError = findTargetError(request.url, options.policy);
  if (targetError) return failed(`the url ${targetError}`);
  const url = new URL(request.url);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.timeoutMs);
  const signal = AbortSignal.any([deadline.signal, options.signal]);
  const kept = options.connections?.take(url.origin);
  const sending = { url, request, signal, options };
  try {
    return await sendOn(kept ?? createClient(url, options), sending).catch((error) => {
      // The receiver may have closed a kept connection just when it was taken. Trying a new one still counts as the same
      // attempt.
      if (!kept || signal.aborted || !isClosed(error)) throw error;
      return sendOn(createClient(url, options), sending);
    });
  } catch (error) {
    if (deadline.signal.aborted) return failed(`no response within ${options.timeoutMs / 1_000} s`, true);
    return failed(describeFailure(error), isTimeout(error));
  } finally {
    clearTimeout(timer);
  }
}

type Sending = { url: URL; request: WebhookRequest; signal: AbortSignal; options: SendOptions };

/**
 * Rejects when no response head arrives. A connection is kept after a response that was read completely, and ended
 * otherwise.
 */
async function sendOn(client: Client, { url, request, signal, options }: Sending): Promise<SendResult> {
  let whole = false;
  // A request reacts to its signal only once there is a connection, so a connection that is still being made has to be ended
  // directly.
  const end = () => void client.destroy().catch(() => {});
  signal.addEventListener("abort", end);
  try {
    signal.throwIfAborted();
    const response = await client.request({
      method: "POST",
      path: url.pathname + url.search,
      headers: request.headers,
      body: request.body,
      signal,
    });
    const start = await readStart(response.body);
    whole = start.whole;
    return toResult(response, start.text);
  } finally {
    signal.removeEventListener("abort", end);
    if (whole && options.connections) options.connections.keep(url.origin, client);
    else end();
  }
}

/** Whether the receiver has closed the connection without a response. */
function isClosed(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "UND_ERR_SOCKET" || error.code === "ECONNRESET" || error.code === "EPIPE";
}

/** Reads the beginning of a body. What follows it, however slowly, does not change the result (D23). */
async function readStart(body: AsyncIterable<Buffer>): Promise<{ text: string; whole: boolean }> {
  const kept: Buffer[] = [];
  let bytes = 0;
  let whole = false;
  try {
    for await (const chunk of body) {
      if (bytes < BODY_KEPT_BYTES) kept.push(chunk.subarray(0, BODY_KEPT_BYTES - bytes));
      bytes += chunk.length;
      if (bytes >= BODY_READ_BYTES) break;
    }
    whole = bytes < BODY_READ_BYTES;
  } catch {
    // The head has arrived, and only the head decides on success.
  }
  // A text in the database can't contain U+0000.
  return { text: Buffer.concat(kept).toString("utf8").replaceAll("\0", "\uFFFD"), whole };
}

function toResult({ statusCode, headers }: Dispatcher.ResponseData, bodyStart: string): SendResult {
  const success = statusCode >= 200 && statusCode < 300;
  const retryAfter = [headers["retry-after"]].flat()[0];
  return {
    status: statusCode,
    error: success ? null : describeStatus(statusCode),
    retryAfter,
    bodyStart,
    timedOut: false,
  };
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `responded ${status}, and redirects are not followed`;
  return status === 410 ? "responded 410, which ends the subscription" : `responded ${status}`;
}

function failed(error: string, timedOut = false): SendResult {
  return { status: null, error, retryAfter: undefined, bodyStart: null, timedOut };
}

/** Whether a connection could not be made in time. */
function isTimeout(error: unknown): boolean {
  if (error instanceof UnresolvedNameError) return error.timedOut;
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "UND_ERR_CONNECT_TIMEOUT" || error.code === "ETIMEDOUT";
}

/** Reasons by the error codes of Node and undici. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was closed before a response came",
  EPIPE: "the connection was closed before a response came",
  UND_ERR_SOCKET: "the connection was closed before a response came",
  EHOSTUNREACH: "the host can't be reached",
  ENETUNREACH: "the host can't be reached",
  ETIMEDOUT: "no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "no connection in time",
  UND_ERR_HEADERS_OVERFLOW: "the response's head is too large",
  CERT_HAS_EXPIRED: "the certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the certificate's issuer is not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate's issuer is not trusted",
};

/** Why there was no response, for the merchant to read; reveals nothing about this server. */
export function describeFailure(error: unknown): string {
  const isOurs = [ForbiddenAddressError, UnresolvedNameError, ProxyError].some(
    (kind) => error instanceof kind,
  );
  if (error instanceof Error && isOurs) return error.message;
  if (error instanceof errors.HTTPParserError) return "the response is not HTTP";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = REASONS[code];
  if (known) return known;
  if (code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS")) return "no secure connection could be made";
  return code === "" ? "the attempt failed" : `the attempt failed (${code})`;
}
