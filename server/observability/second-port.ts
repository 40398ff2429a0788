import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { readInSlices } from "./read-in-slices.ts";

/** Serves `/metrics` or the probes on a port of its own. A connection that sends a request before its response is closed. */
export async function startSideServer(
  serve: RequestListener,
  { host, port }: { host: string; port: number },
): Promise<SideServer> {
  const underWay = new WeakMap<Socket, IncomingMessage>();
  const longHeads = new Set<Socket>();
  const server = createServer((request, response) => {
    const { socket } = request;
    if (underWay.has(socket)) socket.destroy();
    if (socket.destroyed) return;
    underWay.set(socket, request);
    response.once("close", () => underWay.delete(socket));
    serve(request, response);
  });
  server.on("connection", (socket) => readInSlices(socket, longHeads, () => underWay.get(socket)));
  server.listen({ host, port });
  await once(server, "listening"); // rejects with the error of the system
  return {
    url: toUrl(server.address() as AddressInfo, host), // it listens on a port
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export type SideServer = {
  /** Its address, such as `http://127.0.0.1:9001`; undefined when it has no port. */
  url: string | undefined;
  stop(): Promise<void>;
};

export const noSideServer: SideServer = { url: undefined, stop: async () => {} };

/** The address of a listening server, such as `http://127.0.0.1:3000`. */
export function toUrl({ port }: AddressInfo, host: string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
