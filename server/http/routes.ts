import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { authenticate, authorize, type Caller, type FindToken } from "./authenticate.ts";
import { readBody, requireJson } from "./body.ts";
import { type ContractDocument, type ContractOperation, scopesOf } from "./contract.ts";
import { requireAcceptance } from "./negotiate.ts";
import { checkLiterals, decimalPlaces } from "./number-literals.ts";
import type { Call, Handlers, OperationId } from "./operations.ts";
import { ProblemError } from "./problem.ts";
import type { TakeQuota } from "./rate-limit.ts";
import { type AnyReply, sendReply } from "./reply.ts";
import { type BodyCheck, createValidator, validateCall } from "./validate.ts";

export interface ApiOptions {
  document: ContractDocument;
  handlers: Handlers;
  /** Checks of bodies that schemas can't express. */
  checks: Partial<Record<OperationId, BodyCheck>>;
  findToken: FindToken;
  takeQuota: TakeQuota;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs: number;
}

/** Serves every operation of the contract. The checks of a call come in the order of D08a: the first fault answers. */
export function createApi(options: ApiOptions): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const validator = createValidator(options.document);
  for (const [path, methods] of Object.entries(options.document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      router.all(path, requireMethod(method.toUpperCase()), ...serve(operation, validator, options));
    }
  }
  return router;
}

function requireMethod(method: string): RequestHandler {
  return (request, _response, next) => {
    if (request.method !== method)
      throw new ProblemError("METHOD_NOT_ALLOWED", { headers: { Allow: method } });
    next();
  };
}

function serve(
  operation: ContractOperation,
  validator: readonly RequestHandler[],
  options: ApiOptions,
): RequestHandler[] {
  const id = operation.operationId as OperationId; // the bundle and the types come from one document
  const places = decimalPlaces(options.document, operation);
  const check = options.checks[id] ?? (() => []);
  return [
    identify(scopesOf(operation), options),
    requireAcceptance,
    requireJson,
    readBody(options.bodyTimeoutMs),
    validateCall(validator, (body) => [...checkLiterals(places, body), ...check(body)]),
    async (request, response) => {
      const call = { merchant: callerOf(response).merchant, body: request.body } as Call<OperationId>; // validated above
      // The type of each handler says which call it takes; the id in the contract says which handler.
      const handler = options.handlers[id] as (call: Call<OperationId>) => Promise<AnyReply>;
      sendReply(request, response, await handler(call));
    },
  ];
}

/** Token, scope and quota of the caller. */
function identify(scopes: readonly string[], { findToken, takeQuota }: ApiOptions): RequestHandler {
  return async (request: Request, response: Response, next) => {
    const caller = await authenticate(request.headers.authorization, findToken);
    authorize(caller, scopes);
    response.locals.caller = caller;
    response.set(await takeQuota(caller.merchant));
    next();
  };
}

function callerOf(response: Response): Caller {
  return response.locals.caller;
}
