import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { type LookupFunction, Socket } from "node:net";

/**
 * Looks up a host name as the system does; concurrent lookups of the same name share the result. A lookup occupies one of the
 * few threads of this process until the nameserver responds. Repeated attempts to connect would soon occupy all of them, and
 * then no file could be read and no log line written.
 */
export const sharedLookup: LookupFunction = (hostname, options: LookupOptions, callback: Callback) => {
  const key = JSON.stringify([hostname, options]);
  const others = waiting.get(key);
  if (others) {
    others.push(callback);
    return;
  }
  waiting.set(key, [callback]);
  lookup(hostname, options, (error, address, family) => {
    const callbacks = waiting.get(key) ?? [];
    waiting.delete(key);
    for (const one of callbacks) one(error, address, family);
  });
};

type Callback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** The callers that wait for a lookup, by host name and options. */
const waiting = new Map<string, Callback[]>();

/** A socket for the database driver, which connects it to a port and a host, or to the path of a local socket. */
export function createSocket(): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  return Object.assign(socket, {
    connect: (target: number, host?: string) =>
      host === undefined ? connect(String(target)) : connect({ port: target, host, lookup: sharedLookup }),
  });
}
