import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

/** A call exactly as it is sent: path and headers are not changed, as `fetch` would do. */
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

export type Transport = {
  /** Rejects with a `NoResponseError`, within the time limit. */
  send(call: WireCall): Promise<WireResponse>;
  close(): void;
};

/** The response is missing or incomplete. */
export class NoResponseError extends Error {
  readonly timedOut: boolean;

  constructor(message: string, { timedOut = false, cause }: { timedOut?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.timedOut = timedOut;
  }
}

/** Far more than any response of the contract. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Sends calls to a service over persistent connections. */
export function createTransport(serviceUrl: string, timeoutMs: number): Transport {
  const service = new URL(serviceUrl);
  const secure = service.protocol === "https:";
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const prefix = service.pathname.replace(/\/$/, "");

  async function send({ method, path, headers, body }: WireCall): Promise<WireResponse> {
    const startedAt = performance.now();
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const request = (secure ? httpsRequest : httpRequest)({
        protocol: service.protocol,
        hostname: service.hostname.replace(/^\[|\]$/g, ""),
        ...(service.port && { port: service.port }),
        path: prefix + path,
        method,
        headers: { ...headers, ...(body.length > 0 && { "Content-Length": body.length }) },
        agent,
        signal,
      });
      const response = await responseTo(request, body);
      const text = await readText(response);
      const milliseconds = performance.now() - startedAt;
      return { status: response.statusCode ?? 0, headers: toHeaders(response), text, milliseconds };
    } catch (error) {
      if (error instanceof NoResponseError) throw error;
      if (signal.aborted)
        throw new NoResponseError(`no response within ${timeoutMs / 1000} s`, { timedOut: true });
      throw new NoResponseError(`no response: ${describe(error)}`, { cause: error });
    }
  }

  return { send, close: () => agent.destroy() };
}

function responseTo(request: ClientRequest, body: Uint8Array): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    // The listener stays: a server that has responded may close the connection while the rest of the body is still being
    // sent.
    request.on("error", reject);
    request.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) throw new NoResponseError("the response is larger than 1 MiB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  }
  return headers;
}

/** When several addresses refuse a connection, the error has no message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join("; ");
  return error instanceof Error ? error.message || error.name : String(error);
}

/** How often a call is repeated that a service refuses because of its rate limit. */
const MAX_WAITS = 10;
const MAX_WAIT_SECONDS = 30;

/** The service keeps refusing calls with 429, however long they wait. */
export class LimitedError extends Error {}

/** Repeats a call for as long as it gets 429, waiting as `Retry-After` says. Rejects with a `LimitedError`. */
export async function untilTaken<Taken extends { status: number; headers: Headers }>(
  send: () => Promise<Taken>,
): Promise<Taken> {
  for (let waits = 0; ; waits += 1) {
    const response = await send();
    if (response.status !== 429) return response;
    if (waits === MAX_WAITS) throw new LimitedError(`429 also after waiting ${MAX_WAITS} times`);
    await pause(1000 * Math.min(secondsIn(response.headers.get("retry-after")) ?? 1, MAX_WAIT_SECONDS));
  }
}

/** The seconds of a `Retry-After`; undefined when it is not a number. */
export function secondsIn(retryAfter: string | null): number | undefined {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
