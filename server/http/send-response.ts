import type { IncomingMessage } from "node:http";
import type { Request, Response } from "express";
import Negotiator from "negotiator";
import type { EventStream } from "../contract/operation-types.ts";
import { PROBLEMS, ProblemError, type ProblemResponse, toProblemBody } from "../contract/problem.ts";
import { EVENT_STREAM } from "../contract/validate-response.ts";
import type { HttpResponse, Middleware } from "./request-locals.ts";

/** Sends the result of a handler: JSON, a stream, or a problem. */
export function sendResponse(request: Request, response: HttpResponse, result: AnyResponse): void {
  const record = recordOf(result);
  response.locals.paymentId = record?.paymentId;
  response.locals.paymentStatus = record?.paymentStatus;
  if ("code" in result) sendProblem(request, response, result);
  else if ("stream" in result) sendStream(response, result.stream);
  else if (result.body === undefined) response.status(result.status).end();
  else sendJson(response.status(result.status), "application/json", result.body);
}

export type AnyResponse =
  | { status: number; body?: unknown }
  | { status: number; stream: EventStream }
  | ProblemResponse;

// JSON is always UTF-8, so a range that names this charset admits it as well.
const JSON_TYPES = ["application/json", "application/json; charset=utf-8"];

/** Requires that `Accept`, if it is sent, admits JSON, or the operation's stream (D04); else 406. */
export function requireAcceptance(isStream: boolean): Middleware {
  const offered = isStream ? [EVENT_STREAM, ...JSON_TYPES] : JSON_TYPES;
  return (request, _response, next) => {
    const { accept = "" } = request.headers;
    if (accept === "application/json") return next(); // nearly every request
    if (!/[^\s,]/.test(accept)) return next();
    if (negotiatorOf(request).mediaType(offered) === undefined) throw new ProblemError("NOT_ACCEPTABLE");
    next();
  };
}

type JsonType = "application/json" | "application/problem+json";

/** Sends JSON in a media type without a parameter: Express would add a charset, which some generated clients refuse (D07). */
export function sendJson(response: Pick<Response, "setHeader" | "end">, type: JsonType, body: unknown): void {
  response.setHeader("Content-Type", type);
  const text = JSON.stringify(body);
  response.setHeader("Content-Length", Buffer.byteLength(text));
  response.end(text);
}

/** Milliseconds after which a comment shows both sides that the connection lives. */
const HEARTBEAT_MS = 15_000;

/** Bytes that may wait for a reader; a reader that falls behind is cut off, and may connect again. */
const MAX_WAITING_BYTES = 65_536;

/** Sends server-sent events until one of the two sides ends the stream. */
function sendStream(response: HttpResponse, stream: EventStream): void {
  response.writeHead(200, { "Content-Type": EVENT_STREAM, "Cache-Control": "no-store" });
  response.flushHeaders();
  if (response.writableEnded) return; // The response guard has replaced a head that the contract does not allow.
  const write = (text: string) => {
    response.write(text);
    if (response.writableLength > MAX_WAITING_BYTES) response.destroy();
  };
  const heartbeat = setInterval(write, HEARTBEAT_MS, ": still here\n\n");
  const stop = stream(
    (data) => write(`event: change\ndata: ${data}\n\n`),
    () => response.end(),
  );
  response.once("close", () => {
    clearInterval(heartbeat);
    stop();
  });
}

/** The record that a response is about, for the log. */
function recordOf(result: AnyResponse): { paymentId?: unknown; paymentStatus?: unknown } | undefined {
  let record: unknown;
  if ("code" in result) record = result.existing;
  else if ("body" in result) record = result.body;
  return typeof record === "object" && record !== null ? record : undefined;
}

/** Sends a problem in the media type that the caller understands (D07). */
export function sendProblem(request: Request, response: HttpResponse, problem: ProblemResponse): void {
  response.locals.errorCode = problem.code;
  response.status(PROBLEMS[problem.code].status).set(problem.headers ?? {});
  sendJson(response, problemMediaType(request), toProblemBody(problem, response.locals.requestId));
}

/** How many characters of `Accept` are read (D31): reading thousands of media types would take longer than a refund. */
const MAX_ACCEPT_LENGTH = 512;

/** Reads `Accept` up to the last whole media type within that length. */
function negotiatorOf({ headers: { accept = "" } }: Pick<IncomingMessage, "headers">): Negotiator {
  if (accept.length <= MAX_ACCEPT_LENGTH) return new Negotiator({ headers: { accept } });
  const end = accept.lastIndexOf(",", MAX_ACCEPT_LENGTH);
  return new Negotiator({ headers: { accept: accept.slice(0, Math.max(end, 0)) } });
}

/** Plain JSON only when `Accept` names it, but neither the exact type nor a wildcard (D07). */
export function problemMediaType(request: Pick<IncomingMessage, "headers">): JsonType {
  if (request.headers.accept === "application/json") return "application/json"; // nearly every request
  const accepted = negotiatorOf(request)
    .mediaTypes()
    .map((type) => type.toLowerCase());
  const named = accepted.includes("application/json");
  const exact = accepted.some((type) => ["application/problem+json", "application/*", "*/*"].includes(type));
  return named && !exact ? "application/json" : "application/problem+json";
}
