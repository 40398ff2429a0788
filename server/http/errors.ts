import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type { ErrorRequestHandler, RequestHandler } from "express";
import type { Logger } from "pino";
import { PROBLEMS, ProblemError, toProblemBody } from "./problem.ts";
import { sendProblem } from "./reply.ts";

const RETRY_AFTER_SECONDS = "1";

/** A path that nobody serves. */
export const notFound: RequestHandler = () => {
  throw new ProblemError("NOT_FOUND");
};

/** Turns whatever was thrown into a problem. What is not the caller's doing is logged, and told without particulars. */
export function handleErrors(
  logger: Logger,
  isUnavailable: (error: unknown) => boolean,
): ErrorRequestHandler {
  return (error, request, response, _next) => {
    if (response.headersSent) {
      logger.error({ requestId: response.locals.requestId, err: error }, "failed after the answer had begun");
      response.destroy();
      return;
    }
    const problem = toProblemError(error, isUnavailable);
    response.locals.reason = problem.problem.reason;
    // What was refused on purpose, while the server drains, is no fault: the line of the request tells of it.
    if (PROBLEMS[problem.problem.code].status >= 500 && problem.cause !== undefined) {
      logger.error({ requestId: response.locals.requestId, err: error }, "request failed");
    }
    sendProblem(request, response, problem.problem);
  };
}

function toProblemError(error: unknown, isUnavailable: (error: unknown) => boolean): ProblemError {
  if (error instanceof ProblemError) return error;
  if (isUnavailable(error)) return unavailable(error);
  // A path with a broken percent-encoding, which the router refuses to decode.
  if (error instanceof URIError) return new ProblemError("NOT_FOUND");
  return new ProblemError("INTERNAL_ERROR", {}, { cause: error });
}

/** The call can't be served now, and can be repeated soon. */
export function unavailable(cause?: unknown): ProblemError {
  return new ProblemError("UNAVAILABLE", { headers: { "Retry-After": RETRY_AFTER_SECONDS } }, { cause });
}

/** Not one whole HTTP/1.1 request. */
export function malformedRequest(): ProblemError {
  return new ProblemError("INVALID_REQUEST", {
    violations: [{ pointer: "", message: "did not come as a well-formed HTTP/1.1 request" }],
  });
}

/** Answers what is not even HTTP, or came too slowly to become a request, with a problem as well. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const tooSlow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const { problem } = tooSlow ? new ProblemError("REQUEST_TIMEOUT") : malformedRequest();
  const body = toProblemBody(problem, randomUUID());
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${body.status} ${body.title}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}
