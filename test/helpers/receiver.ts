import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { listenForSockets, listenLocally } from "./network/local-server.ts";

/** A delivery as received. */
export type Received = {
  readonly webhookId: string;
  /** The path with the query. */
  readonly target: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: {
    readonly type: string;
    readonly timestamp: string;
    readonly sequence: number;
    readonly data: Record<string, unknown>;
  };
};

/** Responds to a delivery; `count` is the number of all earlier deliveries. */
export type Responder = (response: ServerResponse, delivery: Received, count: number) => void;

/** A merchant's server, on this machine. */
export type Receiver = AsyncDisposable & {
  readonly url: string;
  /** In the order in which they were completely received. */
  readonly received: readonly Received[];
  /** Resolves with the first `count` deliveries when they have arrived. */
  first(count: number): Promise<readonly Received[]>;
  close(): Promise<void>;
};

/** The response of most receivers. */
export const accept: Responder = (response) => {
  response.writeHead(204).end();
};

/** Responds with this status and these headers. */
export function respondWith(status: number, headers: Record<string, string> = {}): Responder {
  return (response) => {
    response.writeHead(status, headers).end();
  };
}

export async function startReceiver(
  respond: Responder = accept,
  { tls, port = 0 }: { readonly tls?: { key: string; cert: string }; readonly port?: number } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  let waiting: { count: number; resolve: (deliveries: readonly Received[]) => void }[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks = await request.toArray().catch(() => undefined);
    if (!chunks) return; // a sender that was killed
    const body = Buffer.concat(chunks).toString("utf8");
    const webhookId = String(request.headers["webhook-id"]);
    const { url: target, headers } = request;
    const delivery = { webhookId, target, headers, body, event: JSON.parse(body) };
    received.push(delivery);
    respond(response, delivery, received.length - 1);
    for (const waiter of waiting) if (received.length >= waiter.count) waiter.resolve(received);
    waiting = waiting.filter((waiter) => received.length < waiter.count);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const { url, [Symbol.asyncDispose]: close } = await listenLocally(server, port);
  return {
    url: `${url}/hooks`,
    received,
    first: (count) =>
      received.length >= count
        ? Promise.resolve(received)
        : new Promise((resolve) => waiting.push({ count, resolve })),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A TCP listener without HTTP: the test decides what happens to a connection. */
export type RawReceiver = AsyncDisposable & {
  readonly port: number;
  /** Connections so far. */
  readonly connections: () => number;
};

export async function startRawReceiver(
  onConnection: (socket: Socket) => void,
  host = "127.0.0.1",
): Promise<RawReceiver> {
  let connections = 0;
  const server = await listenForSockets((socket) => {
    connections += 1;
    onConnection(socket);
  }, host);
  return { ...server, connections: () => connections };
}
