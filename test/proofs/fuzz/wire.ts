import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A response as received. */
export type WireResponse = { readonly status: number; readonly headers: Headers; readonly text: string };

/** A raw connection, which can send bytes that a client library would refuse to send. */
export type Wire = ReturnType<typeof openWire>;

/** There was no response, or it was not HTTP. */
export class WireError extends Error {
  override name = "WireError";
}

/** Responses must arrive within `limitMs`; otherwise the call fails as hung. */
export function openWire(url: string, limitMs: number) {
  let socket: Socket | undefined;

  /**
   * Sends one request and resolves with its response. The connection is kept, or opened again when the server has closed it.
   */
  const exchange = async (message: Buffer, method: string): Promise<WireResponse> => {
    const kept = socket !== undefined;
    socket ??= await open(url);
    const own = socket;
    const reading = read(own, limitMs, (received) => {
      const parsed = parse(received, method === "HEAD");
      return parsed && { ...parsed, received: received.length };
    });
    own.write(message);
    try {
      const { response, closes, length, received } = await reading;
      if (received > length)
        throw new WireError(`${received - length} bytes follow a response of ${response.status}`);
      if (closes) drop();
      return response;
    } catch (error) {
      drop();
      // A server may close an idle connection just when a request is sent; on a new connection that is an error.
      if (kept && error instanceof WireError && error.message === NOTHING) return exchange(message, method);
      throw error;
    }
  };
  const drop = () => {
    socket?.destroy();
    socket = undefined;
  };
  return { exchange, close: drop };
}

/** Sends bytes on a new connection, ends our side of it, and resolves with all responses when the server ends its side. */
export async function sendAlone(url: string, bytes: Buffer, limitMs: number): Promise<WireResponse[]> {
  const socket = await open(url);
  try {
    const reading = read(socket, limitMs, (received, ended) => (ended ? parseAll(received) : undefined));
    socket.end(bytes);
    return await reading;
  } finally {
    socket.destroy();
  }
}

const NOTHING = "the server closed without a response";

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, noDelay: true });
  await once(socket, "connect");
  // Also of a connection that nothing is read from.
  socket.on("error", () => {});
  return socket;
}

/** Reads until `take` returns a value. */
async function read<T>(
  socket: Socket,
  limitMs: number,
  take: (received: Buffer, ended: boolean) => T | undefined,
): Promise<T> {
  let received: Buffer = Buffer.alloc(0);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    socket.destroy();
  }, limitMs);
  try {
    for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
      received = Buffer.concat([received, bytes]);
      const taken = take(received, false);
      if (taken !== undefined) return taken;
    }
  } catch (error) {
    // A reset ends a connection like any other end: what counts is the data before it.
    if (error instanceof WireError) throw error;
  } finally {
    clearTimeout(timer);
  }
  if (timedOut)
    throw new WireError(`no whole response within ${limitMs} ms, only: ${received.toString("latin1")}`);
  const taken = take(received, true);
  if (taken !== undefined) return taken;
  throw new WireError(received.length === 0 ? NOTHING : cutOff(received));
}

function cutOff(received: Buffer): string {
  return `the server closed in the middle of a response: ${received.toString("latin1")}`;
}

type Parsed = { readonly response: WireResponse; readonly length: number; readonly closes: boolean };

/** The first response, without interim ones; undefined while it is incomplete. */
function parse(received: Buffer, bodiless: boolean): Parsed | undefined {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = received.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new WireError(`not a response of HTTP/1.1: ${statusLine}`);
  const start = headEnd + 4;
  if (status < 200) {
    const next = parse(received.subarray(start), bodiless);
    return next && { ...next, length: start + next.length };
  }
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new WireError(`not a header: ${line}`);
    headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  const empty = bodiless || status === 204 || status === 304;
  const length = empty ? 0 : Number(headers.get("content-length") ?? Number.NaN);
  if (Number.isNaN(length)) throw new WireError(`a response without a length: ${statusLine}`);
  if (received.length < start + length) return undefined;
  const text = received.toString("utf8", start, start + length);
  const closes = /close/i.test(headers.get("connection") ?? "");
  return { response: { status, headers, text }, length: start + length, closes };
}

function parseAll(received: Buffer): WireResponse[] {
  const responses: WireResponse[] = [];
  for (let rest = received; rest.length > 0; ) {
    const parsed = parse(rest, false);
    if (!parsed) throw new WireError(cutOff(rest));
    responses.push(parsed.response);
    rest = rest.subarray(parsed.length);
  }
  return responses;
}
