import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { CannotRun } from "../reporting/options.ts";
import type { Kit } from "./kit.ts";
import type { ConformOptions } from "./options.ts";
import { toHeaders } from "./transport.ts";

/** A delivery as received. */
export type Delivery = {
  readonly method: string;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** Whether the hook has responded with 410. */
  readonly refused: boolean;
};

/** The receiver of a service's deliveries: it has hooks, each for one subscription. */
export type Receiver = {
  /** The address of a hook. An unwanted hook responds with 410 from the start, which ends its subscription. */
  hook(options: { wanted: boolean }): Hook;
  /** How many hooks have responded with 410. */
  readonly ended: number;
  close(): void;
};

export type Hook = {
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  /** Responds with 410 from now on. */
  refuse(): void;
  /** Resolves with true when the deliveries meet the condition, or with false when the time limit is reached. */
  until(isDone: (deliveries: readonly Delivery[]) => boolean, timeoutMs: number): Promise<boolean>;
};

/** The receiver of a run; undefined when the service can't reach this machine. */
export function receiverOf(kit: Kit): Promise<Receiver | undefined> {
  return kit.share("receiver", async () => {
    if (kit.options.receiver === undefined) return undefined;
    const receiver = await startReceiver(kit.options);
    kit.onClose(() => receiver.close());
    return receiver;
  });
}

/** Starts to listen. Throws a `CannotRun` when the port is taken. */
async function startReceiver({ receiver = "", receiverPort }: ConformOptions): Promise<Receiver> {
  const address = new URL(receiver);
  const hooks = new Map<string, OpenHook>();
  const server = createServer(async (request, response) => {
    const name = (request.url ?? "").slice(address.pathname.replace(/\/$/, "").length + 1);
    const bytes = await buffer(request).catch(() => undefined);
    const hook = hooks.get(name);
    if (hook && bytes) hook.take(request, bytes);
    response.writeHead(hook?.isWanted() ? 204 : 410).end();
  });
  const loopback = /^(127\.|localhost$|\[::1\]$)/.test(address.hostname);
  const port = receiverPort ?? Number(address.port || (address.protocol === "https:" ? 443 : 80));
  server.listen(port, ...(loopback ? [address.hostname.replace(/^\[|\]$/g, "")] : []));
  await once(server, "listening").catch((error: Error) => {
    throw new CannotRun(`Deliveries can't be received: ${error.message}. Try another --receiver-port.`);
  });
  // The address of a server that listens on a port is not a string.
  if (address.port === "0") address.port = String((server.address() as AddressInfo).port);

  return {
    hook: ({ wanted }) => {
      const name = `hook-${hooks.size + 1}`;
      const hook = openHook(`${address.href.replace(/\/$/, "")}/${name}`, wanted);
      hooks.set(name, hook);
      return hook;
    },
    get ended() {
      return [...hooks.values()].filter(({ deliveries }) => deliveries.some(({ refused }) => refused)).length;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface OpenHook extends Hook {
  isWanted(): boolean;
  take(request: IncomingMessage, bytes: Buffer): void;
}

function openHook(url: string, wantedAtFirst: boolean): OpenHook {
  const deliveries: Delivery[] = [];
  const arrivals = new EventEmitter().setMaxListeners(0);
  let wanted = wantedAtFirst;
  return {
    url,
    deliveries,
    isWanted: () => wanted,
    refuse: () => {
      wanted = false;
    },
    take: ({ method = "", headers }, bytes) => {
      deliveries.push({ method, headers: toHeaders(headers), bytes, refused: !wanted });
      arrivals.emit("delivery");
    },
    async until(isDone, timeoutMs) {
      const signal = AbortSignal.timeout(timeoutMs);
      while (!isDone(deliveries) && !signal.aborted)
        await once(arrivals, "delivery", { signal }).catch(() => {});
      return isDone(deliveries);
    },
  };
}
