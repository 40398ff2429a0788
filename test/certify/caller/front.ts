import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A server of this machine in front of the sandbox, or beside it. */
export interface Front extends AsyncDisposable {
  readonly url: string;
}

export async function startFront(listener: RequestListener): Promise<Front> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Redirects every request to another address, and counts what arrives there. */
export async function startRedirect(): Promise<
  Front & { readonly count: () => { redirected: number; followed: number } }
> {
  const count = { redirected: 0, followed: 0 };
  const elsewhere = await startFront((_request, response) => {
    count.followed += 1;
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  const front = await startFront((request, response) => {
    request.resume();
    count.redirected += 1;
    response.writeHead(307, { Location: `${elsewhere.url}${request.url}` }).end();
  });
  return {
    url: front.url,
    count: () => count,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
}

/** Passes requests on; before each, `prepare` gets its body. */
export function startPassing(target: string, prepare: (body: string) => Promise<void>): Promise<Front> {
  return startFront(async (request, response) => {
    const body = await text(request);
    try {
      await prepare(body);
      const received = await fetch(target + request.url, {
        method: "POST",
        body,
        headers: toHeaders(request),
      });
      const type = received.headers.get("content-type") ?? "";
      response.writeHead(received.status, { "Content-Type": type }).end(await received.text());
    } catch {
      response.destroy();
    }
  });
}

function toHeaders({ headers }: IncomingMessage): Record<string, string> {
  const { authorization = "", accept = "", "content-type": type = "" } = headers;
  return { authorization, accept, "content-type": type };
}
