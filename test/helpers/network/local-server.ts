import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { Server as TlsServer } from "node:https";
import {
  type AddressInfo,
  createServer as createSocketServer,
  type Socket,
  type Server as SocketServer,
} from "node:net";

/** A server on a free port of the loopback; disposing of it cuts open connections. */
export type LocalServer = { readonly url: string; [Symbol.asyncDispose](): Promise<void> };

export function serveLocally(listener?: RequestListener): Promise<LocalServer> {
  return listenLocally(createServer(listener));
}

/** Listens on that port, or on a free one. */
export async function listenLocally(server: Server | TlsServer, wantedPort = 0): Promise<LocalServer> {
  const port = await listen(server, "127.0.0.1", wantedPort);
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const scheme = server instanceof TlsServer ? "https" : "http";
  return { url: `${scheme}://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

/** The same for a TCP server without HTTP: the test decides what happens to a connection. */
export type SocketListener = AsyncDisposable & {
  readonly port: number;
  /** The open connections, and other sockets that end with them. */
  readonly open: ReadonlySet<Socket>;
  /** Adds a socket to the open ones, such as that of a proxy to its target. */
  add(socket: Socket): void;
  /** Destroys the open sockets. */
  cut(): void;
};

export async function listenForSockets(
  onConnection: (socket: Socket) => void,
  host = "127.0.0.1",
): Promise<SocketListener> {
  const open = new Set<Socket>();
  const add = (socket: Socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
  };
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const server = createSocketServer((socket) => {
    add(socket);
    onConnection(socket);
  });
  const port = await listen(server, host);
  return {
    ...{ port, open, add, cut },
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}

async function listen(server: SocketServer, host: string, port = 0): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port; // a server that listens on a port has no other kind of address
}

/** A port of this machine that is free now. */
export async function findFreePort(): Promise<number> {
  await using probe = await serveLocally();
  return Number(new URL(probe.url).port);
}
