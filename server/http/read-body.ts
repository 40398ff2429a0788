import { isUtf8 } from "node:buffer";
import { parse as parseContentType } from "content-type";
import express, { type Request } from "express";
import { invalidRequestError, ProblemError } from "../contract/problem.ts";
import { type NumberLiteral, scanJson } from "../contract/scan-json.ts";
import type { HttpResponse, Middleware } from "./request-locals.ts";

/** Reads and parses the body. Throws `REQUEST_TIMEOUT` when it is not complete within the given milliseconds. */
export function readBody(timeoutMs: number): Middleware {
  return (request, response, next) => {
    const { complete, readableLength } = request;
    // Nearly every body is here with its head, and needs neither a timer nor the events of a stream.
    if (complete && readableLength > 0 && readableLength <= MAX_BODY_BYTES) {
      request.body = request.read();
      return next(takeBody(request, response));
    }
    let settled = false;
    const settle = (error?: unknown) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      next(error === undefined ? takeBody(request, response) : toBodyProblem(error));
    };
    const timer = setTimeout(() => {
      // Otherwise the rest of the body would be read as the next request.
      response.set("Connection", "close");
      settle(new ProblemError("REQUEST_TIMEOUT"));
    }, timeoutMs);

    // The slot is given back meanwhile: callers who send bodies slowly could otherwise take all slots.
    if (!complete) response.locals.slot?.leave();
    if (Number(request.headers["content-length"]) > MAX_BODY_BYTES)
      settle(new ProblemError("PAYLOAD_TOO_LARGE"));
    else readBytes(request, response, settle);
  };
}

export const MAX_BODY_BYTES = 64 * 1024;

/** Requires that a body is declared as plain JSON in UTF-8 (D15); else 415. */
export const requireJson: Middleware = (request, _response, next) => {
  if (request.headers["content-encoding"] !== undefined || !isUtf8Json(request.headers["content-type"]))
    throw new ProblemError("UNSUPPORTED_MEDIA_TYPE");
  next();
};

function isUtf8Json(header: string | undefined): boolean {
  if (header === "application/json") return true; // nearly every request
  // The library reads only the first charset, and other servers only the last one.
  if (!header || (header.match(/;\s*charset\s*=/gi) ?? []).length > 1) return false;
  const { type, parameters } = parseContentType(header);
  const charset = parameters.charset ?? "utf-8";
  return type.toLowerCase() === "application/json" && charset.toLowerCase() === "utf-8";
}

const readBytes = express.raw({ limit: MAX_BODY_BYTES, inflate: false, type: () => true });

/** Replaces the bytes of the body by its value; returns the problem with it, if any. */
function takeBody(request: Request, { locals }: HttpResponse): unknown {
  if (!(request.body instanceof Buffer)) return wholeBody("is missing; send a JSON object");
  locals.sentBody = request.body;
  try {
    const { value, literals } = parseBody(request.body);
    request.body = value;
    locals.literals = literals;
    return undefined;
  } catch (error) {
    return error;
  }
}

type ParsedBody = { value: unknown; literals: readonly NumberLiteral[] };

/** Parses a body after checks for what parsing would hide (D15). Throws `INVALID_REQUEST`. */
function parseBody(bytes: Buffer): ParsedBody {
  if (bytes.length === 0) throw wholeBody("is empty; send a JSON object");
  if (!isUtf8(bytes)) throw wholeBody("is not UTF-8");
  const text = bytes.toString("utf8");
  if (text.startsWith("\uFEFF")) throw wholeBody("begins with a byte order mark; send it without");
  const { error, literals } = scanJson(text);
  if (error) throw invalidRequestError([error]);
  try {
    return { value: JSON.parse(text), literals };
  } catch (error) {
    throw wholeBody(describeSyntaxError(text, String(error)));
  }
}

function describeSyntaxError(text: string, message: string): string {
  const [, position, token] = / at position (\d+)|Unexpected token '(.+?)', /.exec(message) ?? [];
  if (token !== undefined) return `is not valid JSON: ${token} is unexpected at character ${findToken(text)}`;
  return position === undefined || Number(position) >= text.length
    ? `is not valid JSON: it breaks off after character ${text.length}`
    : `is not valid JSON at character ${Number(position) + 1}`;
}

/** The number of the unexpected character, which Node doesn't say: the shortest beginning of the text that has one ends with it. */
function findToken(text: string): number {
  let before = 0;
  let until = text.length;
  while (until - before > 1) {
    const middle = Math.floor((before + until) / 2);
    if (hasToken(text.slice(0, middle))) until = middle;
    else before = middle;
  }
  return until;
}

function hasToken(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch (error) {
    return String(error).includes("Unexpected token");
  }
}

function wholeBody(message: string): ProblemError {
  return invalidRequestError([{ pointer: "", message }]);
}

function toBodyProblem(error: unknown): unknown {
  if (error instanceof ProblemError || !(error instanceof Error) || !("type" in error)) return error;
  if (error.type === "entity.too.large") return new ProblemError("PAYLOAD_TOO_LARGE");
  return wholeBody("did not arrive whole");
}

/** Skips a step that reads the body when the request has none; the operation gets an empty object then. */
export function allowAbsentBody(step: Middleware): Middleware {
  return (request, response, next) => {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    if (length !== "0" || encoding !== undefined) return step(request, response, next);
    request.body = {};
    next();
  };
}
