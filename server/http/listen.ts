import { type AddressInfo, createServer, type ListenOptions, type Server } from "node:net";

/** Where a server listens; port 0 is any that is free. */
export type Address = { readonly host: string; readonly port: number };

/**
 * How many connections may wait to be accepted, if the system allows that many. Further ones are dropped, and their callers
 * try again after one, three and seven seconds. Node's default of 511 is less than what arrives at once when another replica
 * stops.
 */
const BACKLOG = 4_096;

/**
 * How many sockets listen on a port. In each turn of the event loop Node accepts one connection of each, and with overload a turn
 * takes tens of milliseconds.
 */
const SOCKETS = 32;

/** Resolves when the server listens. Rejects with the system's error when it can't listen. */
export function listen(server: Server, options: Address & Pick<ListenOptions, "reusePort">): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ backlog: BACKLOG, ...options }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * Listens as `listen`, by many sockets where the system lets them share a port. The server gets the connections of all; those of
 * the servers that are returned end with them.
 */
export async function listenWidely(server: Server, { host, port }: Address): Promise<Server[]> {
  if (process.platform !== "linux") {
    await listen(server, { host, port });
    return [];
  }
  // Sockets that share a port would share it with another server, too.
  if (port !== 0) await checkFree({ host, port });
  await listen(server, { host, port, reusePort: true });
  const address = { host, port: boundTo(server).port, reusePort: true };
  const others = Array.from({ length: SOCKETS - 1 }, () =>
    // The options of Node's HTTP server.
    createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket)),
  );
  await Promise.all(others.map((other) => listen(other, address)));
  return others;
}

/** Rejects with the system's error when another program listens there. */
async function checkFree(address: Address): Promise<void> {
  const server = createServer();
  await listen(server, address);
  await new Promise((resolve) => server.close(resolve));
}

/** The address of a listening server, such as `http://127.0.0.1:3000`. */
export function toUrl(server: Server, host: string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${boundTo(server).port}`;
}

/** The IP address and the port of a server that listens on a port. */
export function boundTo(server: Server): AddressInfo {
  return server.address() as AddressInfo; // it has no other kind of address
}
