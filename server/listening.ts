import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * How many connections may wait to be accepted, as far as the system allows. Of more, callers learn nothing: they try again
 * after one second, three and seven. Node's own 511 are fewer than come at once when a replica before this one has gone.
 */
const BACKLOG = 4_096;

/** Resolves when the server listens; rejects with what the system says when it can't. */
export function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Waits for what is in flight, at most for so many milliseconds: a caller that sends nothing more is then cut off. A
 * connection kept alive would hold the server open after its last answer.
 */
export function drain(server: Server, limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const closeIdle = setInterval(() => server.closeIdleConnections(), 50);
    const cut = setTimeout(() => server.closeAllConnections(), limitMs);
    server.close(() => {
      clearInterval(closeIdle);
      clearTimeout(cut);
      resolve();
    });
  });
}

/** Where a server that listens can be reached. */
export function toUrl(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo; // a server that listens on a port has no other kind of address
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
