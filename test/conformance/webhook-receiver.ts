/** The conformance kit's receiver of webhooks, which records what a service delivers. */
import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { CannotRun } from "../reporting/option-readers.ts";
import type { Kit } from "./kit.ts";
import type { ConformOptions } from "./options.ts";
import { toHeaders } from "./transport.ts";

export type Delivery = {
  readonly method: string;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** Whether the endpoint has responded with 410. */
  readonly refused: boolean;
};

/** The address of one subscription or of several, and what has been delivered there. */
export class Endpoint {
  readonly url: string;
  readonly deliveries: Delivery[] = [];
  /** `false` makes it respond with 410, which ends its subscription. */
  accepts: boolean;
  /** How many subscriptions have the address. */
  readonly subscriptions: number;
  readonly #arrivals = new EventEmitter().setMaxListeners(0);

  constructor(url: string, accepts: boolean, subscriptions: number) {
    this.url = url;
    this.accepts = accepts;
    this.subscriptions = subscriptions;
  }

  take({ method = "", headers }: IncomingMessage, bytes: Buffer): void {
    this.deliveries.push({ method, headers: toHeaders(headers), bytes, refused: !this.accepts });
    this.#arrivals.emit("delivery");
  }

  /** Resolves with true when the deliveries meet the condition, or with false when the time limit is reached. */
  async until(isDone: (deliveries: readonly Delivery[]) => boolean, timeoutMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(timeoutMs);
    while (!isDone(this.deliveries) && !signal.aborted)
      await once(this.#arrivals, "delivery", { signal }).catch(() => {});
    return isDone(this.deliveries);
  }
}

/** More bytes than a delivery may have: what has more is not kept, and its connection is closed. */
const MAX_BYTES = 64 * 1024;

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** The receiver of a run; undefined without `--receiver`. */
export function receiverOf(kit: Kit): Promise<Receiver | undefined> {
  return kit.share("receiver", async () => {
    if (kit.options.receiver === undefined) return undefined;
    const receiver = await startReceiver(kit.options);
    kit.onClose(receiver.close);
    return receiver;
  });
}

/** Starts to receive a service's deliveries. Throws a `CannotRun` when the port is taken. */
async function startReceiver({ receiver = "", receiverPort }: ConformOptions) {
  const address = new URL(receiver);
  const endpoints: Endpoint[] = [];
  const server = createServer(async (request, response) => {
    const endpoint = endpoints.find(({ url }) => new URL(url).pathname === request.url);
    const bytes = await readBytes(request).catch(() => undefined);
    if (!bytes) return void response.destroy();
    endpoint?.take(request, bytes);
    response.writeHead(endpoint?.accepts ? 204 : 410).end();
  });
  const loopback = /^(127\.|localhost$|\[::1\]$)/.test(address.hostname);
  const port = receiverPort ?? Number(address.port || (address.protocol === "https:" ? 443 : 80));
  server.listen(port, ...(loopback ? [address.hostname.replace(/^\[|\]$/g, "")] : []));
  await once(server, "listening").catch((error: Error) => {
    throw new CannotRun(`Deliveries can't be received: ${error.message}. Try another --receiver-port.`);
  });
  // The address of a server that listens on a port is not a string.
  if (address.port === "0") address.port = String((server.address() as AddressInfo).port);

  // Random, so that only deliveries of this run find its endpoints.
  const base = `${address.href.replace(/\/$/, "")}/${randomBytes(12).toString("hex")}`;

  return {
    endpoint: ({ accepts, subscriptions = 1 }: { accepts: boolean; subscriptions?: number }): Endpoint => {
      const endpoint = new Endpoint(`${base}/hook-${endpoints.length + 1}`, accepts, subscriptions);
      endpoints.push(endpoint);
      return endpoint;
    },
    accepting: () => endpoints.filter(({ accepts }) => accepts),
    /** How many subscriptions were ended by a 410. */
    ended: () =>
      endpoints
        .map(({ subscriptions, deliveries }) =>
          Math.min(subscriptions, deliveries.filter(({ refused }) => refused).length),
        )
        .reduce((sum, count) => sum + count, 0),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error("the delivery is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
