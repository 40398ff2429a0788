import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  maxHeaderSize,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import {
  invalidRequestError,
  malformedRequest,
  ProblemError,
  toProblemBody,
  unavailable,
} from "../contract/problem.ts";
import { readInSlices } from "../observability/read-in-slices.ts";
import { toUrl } from "../observability/second-port.ts";
import { type App, KEEP_ALIVE_MS, logRefusals } from "./overload.ts";
import { isLoopback } from "./request-head.ts";

/** Creates the server before its app, because the app asks it whether it drains. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { host, port, drainMs, stopDelaySeconds } = options;
  let server: Server | undefined;
  let local = false;
  let leaving = false;
  const draining = new AbortController();
  const urlOf = (name: string) => (server ? toUrl(addressOf(server), name) : "");
  return {
    async start(app) {
      const starting = createServerFor(app, options);
      server = starting;
      // Read before the first request, because a server that stops has no address any more.
      starting.once("listening", () => {
        local = isLoopback(addressOf(starting).address);
      });
      starting.listen({ host, port, backlog: BACKLOG });
      await once(starting, "listening"); // rejects with the error of the system
    },
    url: () => urlOf(host),
    // One that listens on every address reaches itself on one of them.
    ownUrl: () => urlOf(["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host),
    isLocal: () => local,
    isDraining: () => draining.signal.aborted,
    draining: draining.signal,
    async checkStays() {
      if (leaving) throw new Error("the server is about to stop");
    },
    async leave() {
      leaving = true;
      if (server?.listening) await sleep(stopDelaySeconds * 1000);
    },
    async stop() {
      draining.abort();
      if (server) await drain(server, drainMs);
    },
  };
}

/** Longer than the limit for the body, whose response explains more. */
const REQUEST_TIMEOUT_MS = 30_000;

/**
 * How many connections may wait to be accepted, if the system allows that many. Further ones are dropped, and their callers
 * try again after one, three and seven seconds. Node's default of 511 is less than what arrives at once when another replica
 * stops.
 */
const BACKLOG = 4_096;

/** How many requests may wait for the response of an earlier one on their connection; a connection with more is closed. */
const MAX_PIPELINED = 16;

export type HttpServerOptions = {
  host: string;
  port: number;
  headTimeoutMs: number;
  /** How long requests in flight may take when the server stops, in milliseconds. */
  drainMs: number;
  maxConnections: number;
  /** How long the server still serves while it is not ready, in seconds, so that balancers notice that it stops. */
  stopDelaySeconds: number;
  logger: Logger;
};

export type HttpServer = {
  /** Resolves when it listens. Rejects with the system's error when it can't. */
  start(app: App): Promise<void>;
  /** Its address, such as `http://127.0.0.1:3000`. */
  url(): string;
  /** The address by which it reaches itself. */
  ownUrl(): string;
  /** Whether only this machine reaches it, by the address that it listens on. */
  isLocal(): boolean;
  /** Whether it refuses new requests, because it stops. */
  isDraining(): boolean;
  /** Aborted when the server begins to stop: open streams must end then, because the server waits for them. */
  draining: AbortSignal;
  /** Rejects once the server is about to stop; until it stops, it still serves. */
  checkStays(): Promise<void>;
  /** Serves for some more time while it is not ready, so that balancers send no new requests before it refuses them. */
  leave(): Promise<void>;
  /** Waits for the requests in flight. */
  stop(): Promise<void>;
};

function addressOf(server: Server): AddressInfo {
  return server.address() as AddressInfo; // it listens on a port
}

/** Requests that Node would refuse with an empty response, or handle differently, also go to the app or get a problem. */
function createServerFor(app: App, { headTimeoutMs, maxConnections, logger }: HttpServerOptions): Server {
  const latest = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>();
  const waiting = new WeakMap<Socket, number>();
  const longHeads = new Set<Socket>();
  const serve: RequestListener = (request, response) => {
    if (!request.socket.writable) return; // it has been refused already
    const { socket } = request;
    const before = latest.get(socket)?.response;
    latest.set(socket, { request, response });
    // An idle connection would keep its last call in memory, which takes more than the connection itself.
    response.once("close", () => {
      if (latest.get(socket)?.response === response) latest.delete(socket);
    });
    useOriginForm(request);
    if (!before || before.closed) return app(request, response);
    // One response at a time: a caller who reads none would have all of them made.
    const count = (change: 1 | -1) =>
      waiting.set(socket, (waiting.get(socket) ?? 0) + change).get(socket) ?? 0;
    if (count(1) > MAX_PIPELINED) {
      socket.destroy();
      return;
    }
    before.once("close", () => {
      count(-1);
      if (socket.writable) app(request, response);
    });
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
  const refuse = (error: Error, socket: unknown) => {
    if (!(socket instanceof Socket)) return;
    const previous = latest.get(socket);
    // Bad bytes after a complete request don't affect it. Its response is sent first; otherwise a refund that was made would
    // look refused.
    if (previous?.request.complete && !previous.response.closed)
      previous.response.once("close", () => refuseBrokenRequest(error, socket));
    else refuseBrokenRequest(error, socket);
  };
  server.on("connection", (socket) =>
    readInSlices(socket, longHeads, () => latest.get(socket)?.request, app.respond),
  );
  server.on("clientError", refuse);
  refuseConnections(server, maxConnections, logRefusals(logger, "connection", "too many were open"));
  // An expectation other than 100-continue may be ignored (RFC 9110, 10.1.1).
  server.on("checkExpectation", serve);
  server.on("connect", (_request, stream) => {
    // Node has taken its own listener away. Without one, a caller who resets the connection would end the process.
    stream.on("error", () => stream.destroy());
    refuse(new Error("CONNECT"), stream);
  });
  return server;
}

/** Connections that are being refused at a time; further ones are closed without a response. */
const MAX_REFUSING = 100;
/** Milliseconds that a caller has to read the refusal. */
const REFUSAL_MS = 1_000;

/**
 * Refuses excess connections with 503. Without a bound, callers could take every descriptor of the process, and then it could
 * open neither a connection to the database nor a file.
 */
function refuseConnections(server: Server, maxConnections: number, countRefusal: () => void): void {
  let open = 0;
  server.on("connection", (socket) => {
    open += 1;
    socket.once("close", () => {
      open -= 1;
    });
    if (open <= maxConnections) return;
    countRefusal();
    if (open > maxConnections + MAX_REFUSING) {
      socket.destroy();
      return;
    }
    endWith(unavailable(), socket);
  });
}

/**
 * Replaces an absolute target, as proxies get it, by its path, and `Host` by its host (RFC 9112, 3.2.2). Any other target that is
 * not a path becomes one that does not exist, because Express would send a page of its own.
 */
function useOriginForm(request: IncomingMessage): void {
  if (/^[^/*h]/i.test(request.url ?? "")) request.url = `/${request.url}`;
  const [, host, path = ""] = /^https?:\/\/([^/?#]+)(.*)$/i.exec(request.url ?? "") ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = path.startsWith("/") ? path : `/${path}`;
}

/** Sends a problem where Express has no request: the bytes are not HTTP, or came too slowly to become a request. */
function refuseBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  endWith(toProblem(error.code), socket);
}

function endWith({ problem }: ProblemError, socket: Socket): void {
  const headers = Object.entries(problem.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const body = toProblemBody(problem, randomUUID());
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${body.status} ${body.title}\r\nContent-Type: application/problem+json\r\n` +
      `${headers.join("")}Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
  // Otherwise it would stay open until the caller closes the other half.
  setTimeout(() => socket.destroy(), REFUSAL_MS).unref();
}

function toProblem(code: string | undefined): ProblemError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new ProblemError("REQUEST_TIMEOUT");
  if (code !== "HPE_HEADER_OVERFLOW") return malformedRequest();
  const message = `has headers of more than ${maxHeaderSize / 1024} KiB in all; send fewer or shorter ones`;
  return invalidRequestError([{ pointer: "", message }]);
}

/**
 * Stops accepting connections, and waits for the requests in flight: at most the given time in milliseconds, after which
 * their connections are cut. Idle connections are closed at once, because one that is kept alive would hold the server open.
 */
async function drain(server: Server, limitMs: number): Promise<void> {
  const closeIdle = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), limitMs);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(closeIdle);
  clearTimeout(cut);
}
