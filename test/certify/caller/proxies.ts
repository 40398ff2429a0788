/** Servers between the merchant's program and the sandbox: one redirects each request, one delays responses. */
import { text as readText } from "node:stream/consumers";
import { type LocalServer, serveLocally } from "../../helpers/network/local-server.ts";

const ELSEWHERE = "/elsewhere";

/** Redirects every request by that status, and says which requests follow a redirect. */
export function startRedirect(status: number, onRequest: (isFollowing: boolean) => void) {
  return serveLocally((request, response) => {
    request.resume();
    const isFollowing = request.url === ELSEWHERE;
    onRequest(isFollowing);
    response.writeHead(isFollowing ? 200 : status, isFollowing ? {} : { Location: ELSEWHERE }).end();
  });
}

type Passing = {
  /** Gets the body of the first request before it is passed on. */
  readonly prepare?: (body: string) => Promise<unknown>;
  /** Keeps a response back until this resolves. */
  readonly hold?: (isFirst: boolean) => Promise<unknown>;
};

export function startPassing(target: string, { prepare, hold }: Passing): Promise<LocalServer> {
  let count = 0;
  return serveLocally(async (request, response) => {
    const isFirst = count++ === 0;
    const body = await readText(request);
    try {
      if (isFirst) await prepare?.(body);
      const { authorization = "", accept = "", "content-type": given = "" } = request.headers;
      const headers = { authorization, accept, "content-type": given };
      const received = await fetch(target + request.url, { method: "POST", body, headers });
      const type = received.headers.get("content-type") ?? "";
      const text = await received.text();
      await hold?.(isFirst);
      response.writeHead(received.status, { "Content-Type": type }).end(text);
    } catch {
      response.destroy();
    }
  });
}
