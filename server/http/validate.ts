import type { RequestHandler } from "express";
import { invalidBody, type Violation } from "./problem.ts";
import type { CallParts, CheckRequest } from "./request-check.ts";

/** What the contract's schemas can't express about a body; it must bear any JSON value. */
export type BodyCheck = (body: unknown) => Violation[];

/**
 * Checks a call by the contract's schemas and by the operation's own checks, so that all faults come back at once. Where
 * both find fault with a field, the schema's word counts.
 */
export function validateCall(checkRequest: CheckRequest, check: BodyCheck): RequestHandler {
  return (request, response, next) => {
    const call: CallParts = { body: request.body, query: { ...request.query }, path: { ...request.params } };
    const violations = checkRequest(call);
    const known = new Set(violations.map(({ pointer }) => pointer));
    violations.push(...check(call.body).filter(({ pointer }) => !known.has(pointer)));
    if (violations.length > 0) throw invalidBody(violations);
    response.locals.call = call;
    next();
  };
}
