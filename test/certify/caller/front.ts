import { text as readText } from "node:stream/consumers";
import { type LocalServer, serveLocally } from "../../helpers/network/local-server.ts";

/** Redirects every request to another address by that status, and counts what arrives there. */
export async function startRedirect(
  status: number,
): Promise<LocalServer & { readonly count: () => { redirected: number; followed: number } }> {
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
    count: () => count,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await elsewhere[Symbol.asyncDispose]();
    },
  };
}

/** Passes requests on: `prepare` gets each body before, and `hold` can keep its response back. */
export function startPassing(
  target: string,
  prepare: (body: string) => Promise<void>,
  hold: () => Promise<unknown> | undefined = () => undefined,
): Promise<LocalServer> {
  return serveLocally(async (request, response) => {
    const body = await readText(request);
    try {
      await prepare(body);
      const { authorization = "", accept = "", "content-type": given = "" } = request.headers;
      const headers = { authorization, accept, "content-type": given };
      const received = await fetch(target + request.url, { method: "POST", body, headers });
      const type = received.headers.get("content-type") ?? "";
      const text = await received.text();
      await hold();
      response.writeHead(received.status, { "Content-Type": type }).end(text);
    } catch {
      response.destroy();
    }
  });
}
