import { Client, type Dispatcher } from "undici";
import { type Connections, IDLE_MS } from "./connections.ts";
import { createVettedLookup, type Resolve } from "./lookup.ts";
import { describeFailure } from "./send-failure.ts";
import { findTargetFault, type TargetPolicy } from "./target.ts";

/** What is sent, and where. */
export type Delivery = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type SendOptions = {
  readonly policy: TargetPolicy;
  readonly resolve: Resolve;
  /** Certificate authorities to trust instead of the usual ones, as PEM. */
  readonly authorities?: string | undefined;
  /** Milliseconds for everything together: connection, head, and what is read of the body (D23). */
  readonly timeoutMs: number;
  /** Where connections are kept between deliveries; without it each delivery has one of its own. */
  readonly connections?: Connections;
  /** Gives up before the time is over. */
  readonly signal: AbortSignal;
};

/** What a receiver answered, or why nothing came. */
export type SendResult = {
  readonly status: number | null;
  /** Null for success alone. */
  readonly error: string | null;
  readonly retryAfter: string | undefined;
  /** The first 1,024 bytes of the answer's body; null when there was no answer. */
  readonly answer: string | null;
};

const ANSWER_KEPT_BYTES = 1_024;
const ANSWER_READ_BYTES = 64 * 1_024;
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Sends one delivery over a connection that nothing else uses meanwhile: HTTP/1.1, no redirects, no proxies, certificates
 * verified, the target's form checked again, and its address at each connect (D24). Never rejects.
 */
export async function send(delivery: Delivery, options: SendOptions): Promise<SendResult> {
  const fault = findTargetFault(delivery.url, options.policy);
  if (fault) return failed(`the url ${fault}`);
  const url = new URL(delivery.url);
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.timeoutMs);
  const signal = AbortSignal.any([deadline.signal, options.signal]);
  const kept = options.connections?.take(url.origin);
  try {
    return await sendOn(kept ?? createClient(url, options), { url, delivery, signal, options }).catch(
      (error) => {
        // The receiver may have closed a kept connection just when it was taken. A new one is the same attempt.
        if (!kept || signal.aborted || !isClosed(error)) throw error;
        return sendOn(createClient(url, options), { url, delivery, signal, options });
      },
    );
  } catch (error) {
    return failed(
      deadline.signal.aborted ? `no answer within ${options.timeoutMs / 1_000} s` : describeFailure(error),
    );
  } finally {
    clearTimeout(timer);
  }
}

type Sending = { url: URL; delivery: Delivery; signal: AbortSignal; options: SendOptions };

/** Rejects when no head comes. A connection on which the whole answer came is kept, any other ended. */
async function sendOn(client: Client, { url, delivery, signal, options }: Sending): Promise<SendResult> {
  let whole = false;
  try {
    const response = await client.request({
      method: "POST",
      path: url.pathname + url.search,
      headers: { "content-type": "application/json", "user-agent": "refund-contract", ...delivery.headers },
      body: delivery.body,
      signal,
    });
    const start = await readStart(response.body);
    whole = start.whole;
    return toResult(response, start.text);
  } finally {
    if (whole && options.connections) options.connections.keep(url.origin, client);
    else client.destroy().catch(() => {});
  }
}

/** Whether the other side has ended the connection without a word. */
function isClosed(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return error.code === "UND_ERR_SOCKET" || error.code === "ECONNRESET" || error.code === "EPIPE";
}

function createClient(url: URL, { policy, resolve, authorities }: SendOptions): Client {
  return new Client(url.origin, {
    allowH2: false,
    headersTimeout: 0, // the deadline above bounds both
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    connect: {
      lookup: createVettedLookup(resolve, policy),
      timeout: CONNECT_TIMEOUT_MS,
      rejectUnauthorized: true, // said here, because an environment variable could else switch it off
      ...(authorities !== undefined && { ca: authorities }),
    },
  });
}

/** Reads so much of a body as is kept, or a little more; what comes after, how slowly ever, changes nothing (D23). */
async function readStart(body: AsyncIterable<Buffer>): Promise<{ text: string; whole: boolean }> {
  const kept: Buffer[] = [];
  let bytes = 0;
  let whole = false;
  try {
    for await (const chunk of body) {
      if (bytes < ANSWER_KEPT_BYTES) kept.push(chunk.subarray(0, ANSWER_KEPT_BYTES - bytes));
      bytes += chunk.length;
      if (bytes >= ANSWER_READ_BYTES) break;
    }
    whole = bytes < ANSWER_READ_BYTES;
  } catch {
    // The head has come, and it alone decides.
  }
  // Text in the database can't hold U+0000.
  return { text: Buffer.concat(kept).toString("utf8").replaceAll("\0", "\uFFFD"), whole };
}

function toResult({ statusCode, headers }: Dispatcher.ResponseData, answer: string): SendResult {
  const success = statusCode >= 200 && statusCode < 300;
  const retryAfter = [headers["retry-after"]].flat()[0];
  return { status: statusCode, error: success ? null : describeStatus(statusCode), retryAfter, answer };
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return `answered ${status}, and redirects are not followed`;
  return status === 410 ? "answered 410, which ends the subscription" : `answered ${status}`;
}

function failed(error: string): SendResult {
  return { status: null, error, retryAfter: undefined, answer: null };
}
