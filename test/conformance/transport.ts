/** Sends a request exactly as given, and repeats it when the service's rate limit refuses it. */
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "undici";
import { CheckFailure, type Sent } from "../reporting/exchange.ts";

/** A call exactly as it is sent: unlike `fetch`, it changes neither path nor headers. */
export type WireCall = {
  readonly method: string;
  /** The path below the address of the service. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

export type WireResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly milliseconds: number;
};

/** Far more than any response of the contract. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

export function createTransport(serviceUrl: string, timeoutMs: number) {
  const { origin, pathname } = new URL(serviceUrl);
  const prefix = pathname.replace(/\/$/, "");
  // Each call has one time limit for all of it, so the library's own are switched off.
  const pool = new Pool(origin, {
    ...{ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 0 } },
    maxResponseSize: MAX_RESPONSE_BYTES,
  });

  /** Rejects with a `CheckFailure` within the time limit when the response is missing or incomplete; it names what was sent. */
  async function send({ method, path, headers, body }: WireCall, sent: Sent): Promise<WireResponse> {
    const startedAt = performance.now();
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const request = { path: prefix + path, method, headers, signal };
      const response = await pool.request({ ...request, body: body.length > 0 ? body : null });
      // Not by `text`, which would drop a byte order mark.
      const text = Buffer.from(await response.body.arrayBuffer()).toString("utf8");
      const milliseconds = performance.now() - startedAt;
      return { status: response.statusCode, headers: toHeaders(response.headers), text, milliseconds };
    } catch (error) {
      const timedOut = signal.aborted;
      const why = timedOut ? ` within ${timeoutMs / 1000} s` : `: ${describe(error)}`;
      throw new CheckFailure("a response", { sent, received: `no response${why}`, timedOut });
    }
  }

  return { send, close: () => pool.destroy() };
}

export function toHeaders(received: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const joined = Object.entries(received).map(([name, value]) => [name, [value].flat().join(", ")] as const);
  return new Headers(Object.fromEntries(joined));
}

/** When several addresses refuse a connection, the error has no message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join("; ");
  return error instanceof Error ? error.message || error.name : String(error);
}

/** The most repeats of a call that gets 429. */
const MAX_WAITS = 10;
const MAX_WAIT_SECONDS = 30;

/** Repeats a call that gets 429, waiting as `Retry-After` says. Rejects with a `CheckFailure` after too many. */
export async function retryWhileLimited<Taken extends { status: number; headers: Headers }>(
  sent: Sent,
  send: () => Promise<Taken>,
): Promise<Taken> {
  for (let waits = 0; ; waits += 1) {
    const response = await send();
    if (response.status !== 429) return response;
    if (waits === MAX_WAITS) {
      const received = `still 429 after ${MAX_WAITS} waits`;
      throw new CheckFailure("a response other than 429", { sent, received, timedOut: true });
    }
    await pause(1000 * Math.min(secondsIn(response.headers.get("retry-after")) ?? 1, MAX_WAIT_SECONDS));
  }
}

/** The seconds of a `Retry-After`; undefined when it is not a number. */
export function secondsIn(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}
