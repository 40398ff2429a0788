import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { serveLocally } from "../../helpers/network/local-server.ts";

/** A call as received. */
export type Call = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export type HttpResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

/** The response of the correct server. */
export type Forward = (call: Call) => Promise<HttpResponse>;

/** A server's behaviour instead of the right response. It may keep state between calls. */
export type Fault = (call: Call, forward: Forward) => Promise<HttpResponse>;

export type FaultyServer = AsyncDisposable & {
  readonly url: string;
  /** Applies from now on. Without a fault, it behaves like the server behind it. */
  plant(fault: Fault | undefined): void;
};

/** A faulty server: a correct one behind a proxy that plants a fault. */
export async function startFaultyServer(goodUrl: string): Promise<FaultyServer> {
  let planted: Fault | undefined;
  const forward: Forward = (call) => send(goodUrl, call);
  const server = await serveLocally(async (incoming, outgoing) => {
    const { method = "", url: path = "", headers } = incoming;
    const call = { method, path, headers, body: await buffer(incoming) };
    const {
      status,
      headers: responseHeaders,
      body,
    } = await (planted ? planted(call, forward) : forward(call));
    const length = method === "HEAD" ? {} : { "content-length": body.length };
    outgoing.writeHead(status, { ...withoutFraming(responseHeaders), ...length }).end(body);
  });
  const plant: FaultyServer["plant"] = (fault) => {
    planted = fault;
  };
  return { ...server, plant };
}

async function send(url: string, { method, path, headers, body }: Call): Promise<HttpResponse> {
  const { hostname, port } = new URL(url);
  // The length is set anew, because faults change bodies.
  const length = body.length > 0 ? { "content-length": body.length } : {};
  const outgoing = request({
    hostname,
    port,
    path,
    method,
    headers: { ...withoutFraming(headers), ...length },
  });
  outgoing.end(body);
  const [incoming]: IncomingMessage[] = await once(outgoing, "response");
  if (!incoming) throw new Error("no response");
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: await buffer(incoming) };
}

/** Headers that belong to one connection, or are set anew. */
function withoutFraming(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const framing = ["connection", "keep-alive", "transfer-encoding", "te", "expect", "content-length"];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !framing.includes(name)));
}
