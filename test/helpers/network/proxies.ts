import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { listenForSockets, listenLocally } from "./local-server.ts";

/** A proxy of an operator: it opens tunnels, and nothing else. */
export type ConnectProxy = AsyncDisposable & {
  readonly url: string;
  /** What was asked of it, such as `CONNECT 127.0.0.1:443`, and the credentials. */
  readonly asked: readonly { readonly request: string; readonly authorization: string | undefined }[];
};

/**
 * @param refusal the status that it responds with instead of opening a tunnel
 * @param port the port of this machine to which every tunnel leads, whatever target was requested
 */
export async function startConnectProxy({
  refusal,
  port: leadsTo,
}: {
  refusal?: number;
  port?: number;
} = {}): Promise<ConnectProxy> {
  const asked: ConnectProxy["asked"][number][] = [];
  /** The ends of tunnels, which are no longer connections of the server. */
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage) => {
    asked.push({ request: `${method} ${url}`, authorization: headers["proxy-authorization"] });
  };
  const server = createServer((request, response) => {
    note(request);
    response.writeHead(405).end();
  });
  server.on("connect", (request: IncomingMessage, caller: Socket) => {
    note(request);
    sockets.add(caller);
    if (refusal !== undefined) {
      caller.end(`HTTP/1.1 ${refusal} Refused\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url}`);
    const host = leadsTo === undefined ? hostname.replace(/^\[|\]$/g, "") : "127.0.0.1";
    const target = connect(leadsTo ?? Number(port || 80), host, () => {
      caller.write("HTTP/1.1 200 Connection established\r\n\r\n");
      caller.pipe(target).pipe(caller);
    });
    sockets.add(target);
    target.on("error", () => caller.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"));
    caller.on("error", () => target.destroy());
  });
  const { url, [Symbol.asyncDispose]: close } = await listenLocally(server);
  return {
    url,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await close();
    },
  };
}

/**
 * A proxy in front of a database that can act as if the database did not respond: connections stay open, and nothing
 * arrives.
 */
export type SilentProxy = AsyncDisposable & {
  /** The database's address, by way of the proxy. */
  readonly url: string;
  /** From now on drops all data in both directions, also on new connections. */
  silence(): void;
  /** Cuts every connection there is. */
  cut(): void;
  /** Passes on a caller's data until it has sent this text, and then nothing more of the database's response. */
  silenceAfter(text: string): void;
  /** New connections work again; those that lost something stay silent. */
  speak(): void;
};

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  const target = new URL(databaseUrl);
  /** The connections whose bytes are dropped. */
  const deaf = new Set<Socket>();
  const mute = new Set<Socket>();
  let silent = false;
  let mark = "";

  const proxy = await listenForSockets((caller) => {
    const database = connect(Number(target.port), target.hostname);
    proxy.add(database);
    if (silent) for (const socket of [caller, database]) deaf.add(socket);
    caller.on("data", (chunk) => {
      if (mark !== "" && chunk.includes(mark)) mute.add(database);
      if (!deaf.has(caller)) database.write(chunk);
    });
    database.on("data", (chunk) => {
      if (!deaf.has(database) && !mute.has(database)) caller.write(chunk);
    });
    // A caller that gives up disconnects, but the database may not notice.
    caller.on("close", () => database.destroySoon());
    database.on("close", () => {
      if (!deaf.has(database) && !mute.has(database)) caller.destroySoon();
    });
  });
  return {
    ...proxy,
    url: Object.assign(new URL(target), { port: `${proxy.port}` }).href,
    silence() {
      silent = true;
      for (const socket of proxy.open) deaf.add(socket);
    },
    silenceAfter(text) {
      mark = text;
    },
    speak() {
      silent = false;
      mark = "";
    },
  };
}
