import type { SecureContext } from "node:tls";
import { buildConnector, Client } from "undici";
import { createTunnelConnector } from "./proxy-tunnel.ts";
import { readResponseHeads } from "./response-head-filter.ts";
import { createVettedLookup, type Resolve, type TargetPolicy, vetHost } from "./target-policy.ts";

/** Keeps idle connections to receivers, by origin, for later deliveries. */
export function createConnections(): Connections {
  const idle = new Map<string, ReceiverClient[]>();
  const deliveries = new WeakMap<Client, number>();

  return {
    take(url) {
      const clients = idle.get(url);
      const client = clients?.pop();
      if (clients?.length === 0) idle.delete(url);
      client?.expectHead();
      return client;
    },
    keep(url, client) {
      const used = (deliveries.get(client) ?? 0) + 1;
      deliveries.set(client, used);
      if (used >= MAX_DELIVERIES || client.destroyed) {
        client.destroy().catch(() => {});
        return;
      }
      const clients = idle.get(url) ?? [];
      clients.push(client);
      idle.set(url, clients);
      if (used > 1) return;
      client.on("disconnect", () => {
        // If the receiver closes the connection just after it was taken, it connects again for its delivery.
        const others = idle.get(url) ?? [];
        if (!others.includes(client)) return;
        others.splice(others.indexOf(client), 1);
        if (others.length === 0) idle.delete(url);
        client.destroy().catch(() => {});
      });
    },
    async close() {
      const clients = [...idle.values()].flat();
      idle.clear();
      await Promise.all(clients.map((client) => client.destroy()));
    },
  };
}

export type ConnectOptions = {
  readonly policy: TargetPolicy;
  readonly resolve: Resolve;
  /** The proxy through which connections go, by CONNECT. */
  readonly proxy?: URL | undefined;
  /** The trusted certificates and the client certificate; the usual authorities and none when undefined. */
  readonly secureContext?: SecureContext | undefined;
};

/** A connection to a receiver, for one request at a time to the same URL; `expectHead` announces the next one. */
export type ReceiverClient = Client & { readonly url: URL; expectHead(): void; endHead(): void };

/** Idle connections to receivers, by the texts of their URLs: the URL of a kept connection needs no check and no parsing. */
export type Connections = {
  /** Removes and returns an idle connection, if there is one; the caller then uses it alone. */
  take(url: string): ReceiverClient | undefined;
  /** Keeps a connection for the next delivery, until its receiver or `IDLE_MS` ends it. */
  keep(url: string, client: ReceiverClient): void;
  close(): Promise<void>;
};

/** How long a connection without a delivery stays open, in milliseconds: shorter than the usual limit of receivers. */
const IDLE_MS = 1_000;

/** After this many deliveries a new connection is made, so that a busy receiver's name is resolved and checked again. */
const MAX_DELIVERIES = 100;

const CONNECT_TIMEOUT_MS = 10_000;

/** A connection to the origin of a URL: HTTP/1.1, certificates verified, the address checked at each connect (D24). */
export function createClient(
  url: URL,
  { policy, resolve, proxy, secureContext }: ConnectOptions,
): ReceiverClient {
  const tls = {
    allowH2: false,
    // One address after the other is tried (RFC 8305); explicit, because an option of Node could otherwise switch it off.
    autoSelectFamily: true,
    timeout: CONNECT_TIMEOUT_MS,
    rejectUnauthorized: true, // explicit, because an environment variable could otherwise switch it off
    ...(secureContext && { secureContext }),
  };
  const vet = (hostname: string) => vetHost(hostname, resolve, policy);
  const connect = proxy
    ? createTunnelConnector({ proxy, vet, tls, timeoutMs: CONNECT_TIMEOUT_MS })
    : buildConnector({ ...tls, lookup: createVettedLookup(vet) });
  const heads = readResponseHeads(connect);
  const client = new Client(url.origin, {
    allowH2: false,
    // The caller's deadline bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    connect: heads.connect,
  });
  return Object.assign(client, { url, expectHead: heads.expectHead, endHead: heads.endHead });
}
