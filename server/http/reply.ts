import type { Request, Response } from "express";
import { problemMediaType } from "./negotiate.ts";
import { PROBLEMS, type ProblemReply, toProblemBody } from "./problem.ts";

/** What any handler answers. */
export type AnyReply = { status: number; body?: unknown } | ProblemReply;

/** Sends what a handler answers. */
export function sendReply(request: Request, response: Response, reply: AnyReply): void {
  response.locals.paymentId = paymentIdOf(reply);
  if ("code" in reply) sendProblem(request, response, reply);
  else if (reply.body === undefined) response.status(reply.status).end();
  else response.status(reply.status).json(reply.body);
}

/** The record that an answer is about, for the log. */
function paymentIdOf(reply: AnyReply): unknown {
  const record = "code" in reply ? reply.existing : reply.body;
  return typeof record === "object" && record !== null && "paymentId" in record
    ? record.paymentId
    : undefined;
}

/** Sends a problem in the media type that the caller understands (D07). */
export function sendProblem(request: Request, response: Response, reply: ProblemReply): void {
  response
    .status(PROBLEMS[reply.code].status)
    .set(reply.headers ?? {})
    .type(problemMediaType(request))
    .json(toProblemBody(reply, response.locals.requestId));
}
