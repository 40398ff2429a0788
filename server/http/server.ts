import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { Socket } from "node:net";
import { answerBrokenRequest } from "./errors.ts";

/** The body's own limit comes before this one, and answers better. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Longer than the minute for which balancers usually keep a connection: who closes first must not be the one called. */
const KEEP_ALIVE_MS = 65_000;

/**
 * An HTTP server around the app. What Node would by itself refuse with an empty answer, or serve in another way, comes to
 * the app as well or is answered by a problem.
 *
 * @param headTimeoutMs milliseconds that a caller has to send a head
 */
export function createHttpServer(app: RequestListener, headTimeoutMs: number): Server {
  const latest = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>();
  const serve: RequestListener = (request, response) => {
    latest.set(request.socket, { request, response });
    useOriginForm(request);
    app(request, response);
  };

  const server = createServer(
    {
      headersTimeout: headTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(1_000, headTimeoutMs),
      requireHostHeader: false,
    },
    serve,
  );
  server.on("clientError", (error, stream) => {
    if (!(stream instanceof Socket)) return;
    const call = latest.get(stream);
    const answer = () => answerBrokenRequest(error, stream);
    // Bytes that follow a whole call are no fault of it: its answer comes first, or a refund that is made would look refused.
    if (call?.request.complete && !call.response.closed) call.response.once("close", answer);
    else answer();
  });
  // An expectation other than 100-continue may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", serve);
  server.on("connect", (_request, stream) => {
    if (stream instanceof Socket) answerBrokenRequest(new Error("CONNECT"), stream);
  });
  return server;
}

/** A target written as for a proxy stands for the path in it, and its host counts instead of `Host` (RFC 9112, 3.2.2). */
function useOriginForm(request: IncomingMessage): void {
  const [, host, path = ""] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(request.url ?? "") ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = path.startsWith("/") ? path : `/${path}`;
}
