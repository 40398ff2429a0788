import type { LookupAddress } from "node:dns";
import { type RequestOptions, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { Socket } from "node:net";
import { buildConnector } from "undici";

/**
 * Connects to receivers through a proxy. The proxy is given an address that was resolved and vetted here, never a name, which it
 * would resolve by itself, perhaps to an address inside its own network (D24).
 */
export function createTunnelConnector({
  proxy,
  vet,
  tls,
  timeoutMs,
}: TunnelOptions): buildConnector.connector {
  const secure = buildConnector(tls);
  async function connect({ hostname, protocol, port }: buildConnector.Options): Promise<Socket> {
    const endsAtMs = performance.now() + timeoutMs;
    let failure: unknown;
    for (const address of await vet(hostname)) {
      const leftMs = Math.ceil(endsAtMs - performance.now());
      if (leftMs <= 0) break;
      const target = toTarget(address, port || (protocol === "https:" ? "443" : "80"));
      try {
        return await openTunnel(proxy, target, leftMs);
      } catch (error) {
        failure = error;
      }
    }
    throw failure ?? new ProxyError("our proxy gave no connection in time");
  }
  return (options, callback) => {
    connect(options).then(
      (socket) => {
        if (options.protocol === "https:") secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** The operator's proxy gave no connection to the receiver. */
export class ProxyError extends Error {}

export type TunnelOptions = {
  readonly proxy: URL;
  /** Resolves a host name to addresses that deliveries may go to; rejects otherwise. */
  readonly vet: (hostname: string) => Promise<readonly LookupAddress[]>;
  /** For the connection to the receiver, inside the tunnel. */
  readonly tls: buildConnector.BuildOptions;
  /** Milliseconds until there is a tunnel. */
  readonly timeoutMs: number;
};

function toTarget({ address, family }: LookupAddress, port: string): string {
  return `${family === 6 ? `[${address}]` : address}:${port}`;
}

function openTunnel(proxy: URL, target: string, timeoutMs: number): Promise<Socket> {
  const options: RequestOptions = {
    method: "CONNECT",
    host: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port,
    path: target,
    headers: { host: target, ...authorizationOf(proxy) },
    agent: false,
    signal: AbortSignal.timeout(timeoutMs),
  };
  const request = proxy.protocol === "https:" ? requestSecure(options) : requestPlain(options);
  return new Promise((resolve, reject) => {
    request.once("connect", ({ statusCode = 0 }, socket) => {
      if (statusCode >= 200 && statusCode < 300) return resolve(socket as Socket);
      socket.destroy();
      return reject(new ProxyError(`our proxy refused the connection (${statusCode})`));
    });
    request.once("response", (response) => response.destroy());
    request.once("error", () => reject(new ProxyError("our proxy gave no connection")));
    request.end();
  });
}

function authorizationOf({ username, password }: URL): { "proxy-authorization"?: string } {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}
