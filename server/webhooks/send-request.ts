import type { IncomingHttpHeaders } from "node:http";
import { errors } from "undici";
import { UnresolvedNameError } from "./dns-resolver.ts";
import { ProxyError } from "./proxy-tunnel.ts";
import {
  type Connections,
  type ConnectOptions,
  createClient,
  type ReceiverClient,
} from "./receiver-connections.ts";
import { ForbiddenAddressError, findTargetError } from "./target-policy.ts";

/**
 * Sends one request over a connection that nothing else uses meanwhile: no redirects, no proxies but the configured one, the form
 * of the target checked again for each connection (D24). Never rejects.
 */
export async function send(request: WebhookRequest, options: SendOptions): Promise<SendResult> {
  const { timeoutMs, signal, connections } = options;
  const kept = connections?.take(request.url);
  const targetError = kept ? undefined : findTargetError(request.url, options.policy);
  if (targetError) return failed(`the url ${targetError}`);
  const url = kept?.url ?? new URL(request.url);
  let client: ReceiverClient;
  let timedOut = false;
  // A request reacts to a signal only once it has a connection, so the client is destroyed instead, even while it connects.
  const end = () => void client.destroy().catch(() => {});
  const sendOn = async (chosen: ReceiverClient) => {
    client = chosen;
    try {
      signal.throwIfAborted();
      const { response, whole } = await exchange(client, request);
      if (whole && connections) connections.keep(request.url, client);
      else end();
      return response;
    } catch (error) {
      end();
      throw error;
    }
  };
  const timer = setTimeout(() => {
    timedOut = true;
    end();
  }, timeoutMs);
  signal.addEventListener("abort", end);
  try {
    return await sendOn(kept ?? createClient(url, options)).catch((error) => {
      // The receiver may have closed a kept connection just when it was taken. Trying a new one still counts as the same
      // attempt.
      if (!kept || timedOut || signal.aborted || !isClosed(error)) throw error;
      return sendOn(createClient(url, options));
    });
  } catch (error) {
    if (timedOut) return failed(`no response within ${timeoutMs / 1_000} s`, true);
    return failed(describeFailure(error), isTimeout(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

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
 * Sends a request, and reads the head of its response and the beginning of its body: what follows, however slowly, does not change
 * the result (D23). Rejects when no head arrives. Without a stream for the body, because a stream would cost more than the rest.
 * @returns also whether the response was read completely, so that the connection can be used again
 */
function exchange(
  client: ReceiverClient,
  { headers, body }: WebhookRequest,
): Promise<{ response: SendResult; whole: boolean }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ response: SendResult; whole: boolean }>();
  let head: ResponseHead | undefined;
  const kept: Buffer[] = [];
  let bytes = 0;
  const finish = (whole: boolean) => {
    // A text in the database can't contain U+0000.
    const text = Buffer.concat(kept).toString("utf8").replaceAll("\0", "\uFFFD");
    if (head) resolve({ response: toResult(head, text), whole });
  };
  client.dispatch(
    { method: "POST", path: client.url.pathname + client.url.search, headers, body },
    {
      onRequestStart() {}, // by this method, undici recognizes the kind of handler
      onResponseStart(_controller, status, responseHeaders) {
        client.endHead();
        head = { status, headers: responseHeaders };
      },
      onResponseData(_controller, chunk) {
        if (bytes < BODY_KEPT_BYTES) kept.push(chunk.subarray(0, BODY_KEPT_BYTES - bytes));
        bytes += chunk.length;
        if (bytes >= BODY_READ_BYTES) finish(false);
      },
      onResponseEnd: () => finish(bytes < BODY_READ_BYTES),
      onResponseError(_controller, error) {
        if (head) finish(false);
        else reject(error);
      },
    },
  );
  return promise;
}

type ResponseHead = { readonly status: number; readonly headers: IncomingHttpHeaders };

/** Whether the receiver has closed the connection without a response. */
function isClosed(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "UND_ERR_SOCKET" || error.code === "ECONNRESET" || error.code === "EPIPE";
}

function toResult({ status, headers }: ResponseHead, bodyStart: string): SendResult {
  const success = status >= 200 && status < 300;
  const retryAfter = [headers["retry-after"]].flat()[0];
  return { status, error: success ? null : describeStatus(status), retryAfter, bodyStart, timedOut: false };
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `responded ${status}, and redirects are not followed`;
  return status === 410 ? "responded 410, which ends the subscription" : `responded ${status}`;
}

/** The result of an attempt without a response. */
export function failed(error: string, timedOut = false): SendResult {
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
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the response has two lengths",
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
