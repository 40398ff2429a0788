/** A merchant's receiver of webhooks, which records deliveries and responds as a test says. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { vi } from "vitest";
import type { SandboxSchemas } from "../../server/contract/contract-document.ts";
import { refundOf, type Subscription, subscriptionTo } from "./factories.ts";
import { listenForSockets, listenLocally } from "./network/local-server.ts";
import { createSandboxMerchant, type Merchant } from "./sandbox.ts";
import { post } from "./server.ts";

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

export async function startRawReceiver(onConnection: (socket: Socket) => void): Promise<RawReceiver> {
  let connections = 0;
  const server = await listenForSockets((socket) => {
    connections += 1;
    onConnection(socket);
  });
  return { ...server, connections: () => connections };
}

export type Delivery = SandboxSchemas["Delivery"];

/** A new merchant, with the calls that tests of webhooks make on its behalf. */
export type Subscriber = Merchant & {
  /** Subscribes an address, by default to all events; resolves with the key. */
  subscribe(url: string, fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Issues a refund of 1.00 that is authorized at once; resolves with its paymentId. */
  refund(): Promise<string>;
  /** Its deliveries, newest first. */
  deliveries(query?: Readonly<Record<string, string | number>>): Promise<readonly Delivery[]>;
  /** Its only delivery, as soon as that has this state and this number of attempts. */
  delivery(state: Delivery["state"], attempts: number): Promise<Delivery>;
  redeliver(webhookId: string): Promise<Delivery>;
};

export async function createSubscriber(
  server: Parameters<typeof createSandboxMerchant>[0],
): Promise<Subscriber> {
  const acme = await createSandboxMerchant(server);
  const { sandbox, token } = acme;
  const payment = await acme.create();
  const deliveries = async (query = {}) => (await sandbox("listDeliveries", { query })).body.items;
  return {
    ...acme,
    deliveries,
    async subscribe(url, fields = {}) {
      const body = subscriptionTo(url, fields);
      const response = await post<Subscription>(server.url, "/v1/webhook/subscribe", body, { token });
      if (response.status !== 200) throw new Error(`not subscribed: ${JSON.stringify(response.body)}`);
      return response.body.subscriptionKey;
    },
    async refund() {
      const response = await acme.issue(refundOf(payment.paymentId));
      if (response.status !== 201) throw new Error(`not issued: ${JSON.stringify(response.body)}`);
      return response.body.paymentId;
    },
    delivery: (state, attempts) =>
      until(async () => {
        const [delivery] = await deliveries();
        return delivery?.state === state && delivery.attempts.length === attempts ? delivery : undefined;
      }),
    async redeliver(webhookId) {
      const { status, body } = await sandbox("redeliver", { path: { webhookId } });
      if (status !== 202) throw new Error(`not sent again: ${JSON.stringify(body)}`);
      return body as Delivery;
    },
  };
}

/** Repeats a query for up to two minutes until it returns a value other than false, and resolves with that. */
export function until<T>(query: () => Promise<T | false | undefined> | T | false | undefined): Promise<T> {
  const poll = async () => {
    const found = await query();
    if (found === undefined || found === false)
      throw new Error("the query returned nothing within two minutes");
    return found;
  };
  return vi.waitFor(poll, { timeout: 120_000, interval: 10 });
}
