/** A server with a fault: it passes calls on to a correct one, and changes what the fault says. */
import type { IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { Pool } from "undici";
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

/** A faulty server: a correct one behind a proxy that plants a fault. */
export async function startFaultyServer(goodUrl: string) {
  let planted: Fault | undefined;
  const pool = new Pool(goodUrl);
  const forward: Forward = (call) => send(pool, call);
  const server = await serveLocally(async (incoming, outgoing) => {
    const { method = "", url: path = "", headers } = incoming;
    const call = { method, path, headers, body: await buffer(incoming) };
    const received = await (planted ? planted(call, forward) : forward(call));
    const length = method === "HEAD" ? {} : { "content-length": received.body.length };
    outgoing
      .writeHead(received.status, { ...withoutFraming(received.headers), ...length })
      .end(received.body);
  });
  return {
    ...server,
    /** Applies from now on. Without a fault, it behaves like the server behind it. */
    plant: (fault: Fault | undefined): void => {
      planted = fault;
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await pool.destroy();
    },
  };
}

async function send(pool: Pool, { method, path, headers, body }: Call): Promise<HttpResponse> {
  // The length is set anew, because faults change bodies.
  const sent = { method, path, headers: withoutFraming(headers), body: body.length > 0 ? body : null };
  const { statusCode: status, headers: received, body: content } = await pool.request(sent);
  return { status, headers: received, body: Buffer.from(await content.arrayBuffer()) };
}

/** Headers that belong to one connection, or are set anew. */
function withoutFraming(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const framing = ["connection", "keep-alive", "transfer-encoding", "te", "expect", "content-length"];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !framing.includes(name)));
}
