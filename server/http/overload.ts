import { randomUUID } from "node:crypto";
import type { RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { type ContractDocument, servedOperations } from "../contract/contract-document.ts";
import { toProblemBody, unavailable } from "../contract/problem.ts";
import type { Refusal, RequestOutcome } from "../observability/observer.ts";
import type { RespondToBytes } from "../observability/read-in-slices.ts";
import type { ConcurrencyLimit, Slot } from "./concurrency-limit.ts";
import { type HeadCheck, type RequestHead, readWholeRequest } from "./request-head.ts";
import { readSecurityHeaders } from "./security-headers.ts";
import { problemMediaType } from "./send-response.ts";

/**
 * Refuses excess requests before the app gets them. In the app, a refusal would take most of the time of a refund, so a server
 * under four times its load would spend more time on refusals than on refunds. Requests that another check would refuse first, or
 * that come while the server drains, go on to the app.
 */
export function refuseOverload(app: RequestListener, options: OverloadOptions): App {
  const { concurrency, isDraining, headChecks, observe, onRefused, logger } = options;
  const routes = toRoutes(options.document);
  const { problem } = unavailable();
  const headers = [...readSecurityHeaders(), ...Object.entries(problem.headers ?? {})].flat();
  const countRefusal = logRefusals(logger, "call", "too many were under way");

  const someId = randomUUID();
  const [beforeId, afterId] = JSON.stringify(toProblemBody(problem, someId)).split(someId);
  const toBody = () => `${beforeId}${randomUUID()}${afterId}`;
  const fieldsOf = (request: RequestHead, body: string) =>
    headers.concat("Content-Type", problemMediaType(request), "Content-Length", `${body.length}`);
  function count(route: Route, reason: Refusal, milliseconds: number): void {
    observe({ route: route.path, status: 503, milliseconds });
    onRefused(reason);
    countRefusal();
  }

  /** Refuses a call whose bytes Node has not parsed, which would take three times as long. */
  function respond(socket: Socket, bytes: Buffer): boolean {
    // While all slots are taken, callers who are not known are refused, too; otherwise nothing is read here.
    if (!concurrency.refusalOf(undefined) || isDraining()) return false;
    if (!socket.writable || socket.writableLength > 0) return false;
    const request = readWholeRequest(bytes);
    const route = request && findRoute(routes, request);
    if (!route || concurrency.refusalOf(request.headers.authorization) !== "full") return false;
    if (!passes(request, headChecks)) return false;
    const body = toBody();
    const fields = [...fieldsOf(request, body), ...connectionFields()];
    const lines = fields.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
    socket.write(`HTTP/1.1 503 Service Unavailable\r\n${lines.join("")}\r\n${body}`, "latin1");
    count(route, "full", 0);
    return true;
  }

  const listener: RequestListener = (request, response) => {
    const route = isDraining() ? undefined : findRoute(routes, request);
    if (!route) return app(request, response);
    const slot = concurrency.enter(request.headers.authorization);
    if (typeof slot === "object") {
      holdSlot(response, slot);
      return app(request, response);
    }
    if (!passes(request, headChecks)) return app(request, response);
    const refuse = (milliseconds: number) => {
      const body = toBody();
      response.writeHead(503, fieldsOf(request, body));
      response.end(body, "latin1"); // it is ASCII, which is written faster in this encoding
      count(route, slot, milliseconds);
    };
    if (slot === "full") refuse(0);
    else setTimeout(refuse, PAUSE_MS, PAUSE_MS);
  };
  return Object.assign(listener, { respond });
}

export type OverloadOptions = {
  /** The document of the operations that are refused. */
  document: ContractDocument;
  concurrency: Pick<ConcurrencyLimit, "enter" | "refusalOf">;
  isDraining: () => boolean;
  /** The checks that come before the refusal of excess requests. */
  headChecks: readonly HeadCheck[];
  observe: (outcome: RequestOutcome) => void;
  /** Called with the reason of each refusal. */
  onRefused: (reason: Refusal) => void;
  logger: Logger;
};

/** Longer than the minute that balancers usually keep a connection: if the server closed it first, a request could get lost. */
export const KEEP_ALIVE_MS = 65_000;

const LOG_EVERY_MS = 1_000;

/**
 * How long a merchant with too many requests, under way or in a second, waits for each refusal. Callers who repeat at once, whatever Retry-After
 * says, would otherwise take the processor from other merchants.
 */
export const PAUSE_MS = 200;

/** An app, with what may respond to a call before Node makes a request of it. */
export type App = RequestListener & { readonly respond?: RespondToBytes };

/** What Node adds to a response after which the connection stays open. */
const connectionFields = () => [
  ...["Date", new Date().toUTCString(), "Connection", "keep-alive"],
  ...["Keep-Alive", `timeout=${KEEP_ALIVE_MS / 1000}`],
];

/** Hands the slot to the steps of the request, as one of Express's locals, until the response has ended. */
function holdSlot(response: ServerResponse, slot: Slot): void {
  const { locals } = response as ServerResponse & { locals?: object };
  Object.assign(response, { locals: { ...locals, slot } });
  response.once("close", slot.leave);
}

type Route = {
  method: string;
  /** As the contract writes it, such as `/sandbox/payments/{paymentId}`. */
  path: string;
  /** Matches the targets of its requests, with and without a query. */
  target: RegExp;
};

function toRoutes(document: ContractDocument): Route[] {
  return servedOperations(document).map(({ path, method }) => ({
    method: method.toUpperCase(),
    path,
    target: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/?]+")}(\\?|$)`),
  }));
}

function findRoute(routes: readonly Route[], { method, url = "" }: RequestHead): Route | undefined {
  return routes.find((route) => route.method === method && route.target.test(url));
}

function passes(request: RequestHead, checks: readonly HeadCheck[]): boolean {
  try {
    for (const check of checks) check(request);
    return true;
  } catch {
    return false; // the app finds the same error, and sends it
  }
}

/** Logs once a second how many requests were refused. A line for each would take more time than the refusal. */
export function logRefusals(logger: Logger, noun: string, why: string): () => void {
  let refused = 0;
  const log = () => {
    const count = refused === 1 ? `1 ${noun}` : `${refused} ${noun}s`;
    logger.warn({ refused }, `refused ${count}, because ${why}`);
    refused = 0;
  };
  return () => {
    refused += 1;
    if (refused === 1) setTimeout(log, LOG_EVERY_MS).unref();
  };
}
