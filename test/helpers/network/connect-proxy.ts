import { createServer, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { listenLocally } from "./local-server.ts";

/** A forward proxy that supports CONNECT alone, as an operator's egress proxy does. */
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
