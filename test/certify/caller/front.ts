import { text as readText } from "node:stream/consumers";
import { type LocalServer, serveLocally } from "../../helpers/network/local-server.ts";

/** Redirects every request to another address by that status, and counts what arrives there. */
export async function startRedirect(status: number) {
  const count = { redirected: 0, followed: 0 };
  const elsewhere = await serveLocally((_request, response) => {
    count.followed += 1;
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  const front = await serveLocally((request, response) => {
    request.resume();
    count.redirected += 1;
    response.writeHead(status, { Location: `${elsewhere.url}${request.url}` }).end();
  });
  return {
    url: front.url,
    count,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
}

type Passing = {
  /** Gets the body of each request before it is passed on. */
  readonly prepare?: (body: string) => Promise<unknown>;
  /** Keeps a response back until this resolves. */
  readonly hold?: () => Promise<unknown> | undefined;
};

/** Passes requests on. */
export function startPassing(target: string, { prepare, hold }: Passing): Promise<LocalServer> {
  return serveLocally(async (request, response) => {
    const body = await readText(request);
    try {
      await prepare?.(body);
      const { authorization = "", accept = "", "content-type": given = "" } = request.headers;
      const headers = { authorization, accept, "content-type": given };
      const received = await fetch(target + request.url, { method: "POST", body, headers });
      const type = received.headers.get("content-type") ?? "";
      const text = await received.text();
      await hold?.();
      response.writeHead(received.status, { "Content-Type": type }).end(text);
    } catch {
      response.destroy();
    }
  });
}
