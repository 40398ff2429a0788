import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { CannotRun } from "../reporting/options.ts";
import type { Kit } from "./kit.ts";
import type { ConformOptions } from "./options.ts";
import { toHeaders } from "./transport.ts";

export type Delivery = {
  readonly method: string;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** Whether the hook has responded with 410. */
  readonly refused: boolean;
};

/** The address of one subscription or of several, and what has been delivered there. */
export class Hook {
  readonly url: string;
  readonly deliveries: Delivery[] = [];
  /** Otherwise it responds with 410, which ends its subscription. */
  wanted: boolean;
  /** How many subscriptions have the address. */
  readonly subscriptions: number;
  readonly #arrivals = new EventEmitter().setMaxListeners(0);

  constructor(url: string, wanted: boolean, subscriptions: number) {
    this.url = url;
    this.wanted = wanted;
    this.subscriptions = subscriptions;
  }

  take({ method = "", headers }: IncomingMessage, bytes: Buffer): void {
    this.deliveries.push({ method, headers: toHeaders(headers), bytes, refused: !this.wanted });
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

/** The receiver of a run; undefined when the service can't reach this machine. */
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
  const hooks: Hook[] = [];
  const server = createServer(async (request, response) => {
    const hook = hooks.find(({ url }) => new URL(url).pathname === request.url);
    const bytes = await readBytes(request).catch(() => undefined);
    if (!bytes) return void response.destroy();
    hook?.take(request, bytes);
    response.writeHead(hook?.wanted ? 204 : 410).end();
  });
  const loopback = /^(127\.|localhost$|\[::1\]$)/.test(address.hostname);
  const port = receiverPort ?? Number(address.port || (address.protocol === "https:" ? 443 : 80));
  server.listen(port, ...(loopback ? [address.hostname.replace(/^\[|\]$/g, "")] : []));
  await once(server, "listening").catch((error: Error) => {
    throw new CannotRun(`Deliveries can't be received: ${error.message}. Try another --receiver-port.`);
  });
  // The address of a server that listens on a port is not a string.
  if (address.port === "0") address.port = String((server.address() as AddressInfo).port);

  // Random, so that only deliveries of this run find its hooks.
  const base = `${address.href.replace(/\/$/, "")}/${randomBytes(12).toString("hex")}`;

  return {
    hook: ({ wanted, subscriptions = 1 }: { wanted: boolean; subscriptions?: number }): Hook => {
      const hook = new Hook(`${base}/hook-${hooks.length + 1}`, wanted, subscriptions);
      hooks.push(hook);
      return hook;
    },
    wanted: () => hooks.filter(({ wanted }) => wanted),
    /** How many subscriptions were ended by a 410. */
    ended: () =>
      hooks
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
