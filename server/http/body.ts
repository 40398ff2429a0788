import { isUtf8 } from "node:buffer";
import { parse as parseContentType } from "content-type";
import express, { type Request, type RequestHandler } from "express";
import { rememberLiteral } from "./number-literals.ts";
import { invalidBody, ProblemError } from "./problem.ts";
import { scanJson } from "./raw-json.ts";

const MAX_BODY_BYTES = 64 * 1024;

/** A call with a body is answered 415 unless that is declared as plain JSON in UTF-8 (D15). */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (request.headers["content-encoding"] !== undefined || !isUtf8Json(request.headers["content-type"])) {
    throw new ProblemError("UNSUPPORTED_MEDIA_TYPE");
  }
  // The validator keeps compiled schemas by the header as sent: one spelling, or a caller could fill the memory.
  request.headers["content-type"] = "application/json";
  next();
};

function isUtf8Json(header: string | undefined): boolean {
  if (!header) return false;
  const { type, parameters } = parseContentType(header);
  const charset = parameters.charset ?? "utf-8";
  return type.toLowerCase() === "application/json" && charset.toLowerCase() === "utf-8";
}

const readBytes = express.raw({ limit: MAX_BODY_BYTES, inflate: false, type: () => true });

/** Parses a body, after checks of what parsing would hide (D15). Throws `INVALID_REQUEST`. */
function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw wholeBody("is empty; send a JSON object");
  if (!isUtf8(bytes)) throw wholeBody("is not UTF-8");
  const text = bytes.toString("utf8");
  if (text.startsWith("\uFEFF")) throw wholeBody("begins with a byte order mark; send it without");
  const { fault, hasOddNumber } = scanJson(text);
  if (fault) throw invalidBody([fault]);
  try {
    return hasOddNumber ? JSON.parse(text, rememberLiteral) : JSON.parse(text);
  } catch {
    throw wholeBody("is not valid JSON");
  }
}

function wholeBody(message: string): ProblemError {
  return invalidBody([{ pointer: "", message }]);
}

/** Reads the body within the time given, in milliseconds. */
export function readBody(timeoutMs: number): RequestHandler {
  return (request, response, next) => {
    let settled = false;
    const settle = (error?: unknown) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      next(error === undefined ? takeBody(request) : toBodyProblem(error));
    };
    const timer = setTimeout(() => {
      // What is still to come must not be read as the next request.
      response.set("Connection", "close");
      settle(new ProblemError("REQUEST_TIMEOUT"));
    }, timeoutMs);

    if (declaredLength(request) > MAX_BODY_BYTES) settle(new ProblemError("PAYLOAD_TOO_LARGE"));
    else readBytes(request, response, settle);
  };
}

/** Puts the parsed body in the place of its bytes; returns what is wrong with it. */
function takeBody(request: Request): unknown {
  if (request.body === undefined) return wholeBody("is missing; send a JSON object");
  try {
    request.body = parseBody(request.body);
    return undefined;
  } catch (error) {
    return error;
  }
}

function declaredLength(request: Request): number {
  return Number(request.headers["content-length"] ?? 0);
}

/** Translates the errors of the body parser. */
function toBodyProblem(error: unknown): unknown {
  if (error instanceof ProblemError || !(error instanceof Error) || !("type" in error)) return error;
  if (error.type === "entity.too.large") return new ProblemError("PAYLOAD_TOO_LARGE");
  return wholeBody("did not arrive whole");
}

/** Lets a request without a body pass a step that reads it; the operation then finds an empty object. */
export function allowAbsentBody(step: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    if (length !== "0" || encoding !== undefined) return step(request, response, next);
    request.body = {};
    next();
  };
}
