import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Message = { readonly path: string; readonly headers: Headers; readonly body: string };
type Received = { status: number; headers: Headers; body: string };

/** The changes of a proxy between caller and server; a response of `undefined` is never sent. */
export type Alteration = {
  readonly request?: (message: Message) => string;
  readonly response?: (
    received: Received,
    message: Message,
  ) => Received | undefined | Promise<Received | undefined>;
};

/** A faulty server: the real one behind a proxy that alters requests or responses. */
export async function startAlteredServer(
  upstream: string,
  {
    request: alterRequest = ({ body }) => body,
    response: alterResponse = (received) => received,
  }: Alteration,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (request, response) => {
    const message = await read(request);
    // The sandbox's own calls are not tested here.
    const own = message.path.startsWith("/sandbox/");
    const received = await forward(upstream, request, message, own ? message.body : alterRequest(message));
    const altered = own ? received : await alterResponse(received, message);
    if (altered) send(response, altered);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.close().closeAllConnections();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: close };
}

async function read(request: IncomingMessage): Promise<Message> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    // The proxy uses its own connection to the server.
    if (/^(host|connection|content-length|expect|te|transfer-encoding)$/.test(name)) continue;
    for (const value of values) headers.append(name, value);
  }
  return { path: request.url ?? "", headers, body: Buffer.concat(chunks).toString() };
}

async function forward(
  upstream: string,
  { method = "" }: IncomingMessage,
  { path, headers }: Message,
  body: string,
) {
  const response = await fetch(upstream + path, { method, headers, body: body === "" ? null : body });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function send(response: ServerResponse, { status, headers, body }: Received): void {
  for (const [name, value] of headers)
    if (!/^(connection|keep-alive)$/.test(name)) response.setHeader(name, value);
  if (status !== 204) response.setHeader("Content-Length", Buffer.byteLength(body));
  response.writeHead(status).end(body);
}
