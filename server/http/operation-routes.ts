import type { Express, RequestHandler } from "express";
import {
  type ContractDocument,
  type ContractOperation,
  follow,
  type ServedOperation,
  scopesOf,
  servedOperations,
} from "../contract/contract-document.ts";
import { checkLiterals, decimalFields } from "../contract/decimal-literals.ts";
import type { HandlersOf, OperationId } from "../contract/operation-types.ts";
import { ProblemError, unavailable, type Violation } from "../contract/problem.ts";
import { createRequestValidator, type RequestValidator } from "../contract/validate-request.ts";
import { EVENT_STREAM } from "../contract/validate-response.ts";
import type { TimeLimit } from "../domain/time-limit.ts";
import { allowAbsentBody, readBody, requireJson } from "./read-body.ts";
import { type ErrorMiddleware, type Middleware, type RequestLocals, toIdentity } from "./request-locals.ts";
import { type AccessOptions, requireAccess } from "./require-access.ts";
import { type AnyResponse, requireAcceptance, sendResponse } from "./send-response.ts";

/**
 * Serves every operation of the contract. Requests are checked in the order of D08: the first error ends a request.
 * @returns what compiles the schemas of requests; otherwise the first requests would wait for that
 */
export function serveApi<Ids extends OperationId>(app: Express, options: ApiOptions<Ids>) {
  const validator = createRequestValidator(options.document, options);
  const byPath = Map.groupBy(servedOperations(options.document), ({ path }) => path);
  for (const [path, operations] of byPath) {
    const route = app.route(path.replaceAll(/\{(\w+)\}/g, ":$1"));
    route.all(requireMethod(operations.map(({ method }) => method.toUpperCase())));
    for (const at of operations) route[at.method](...stepsOf(at, validator, options));
  }
  return () => validator.warmUp(app);
}

/** Finds what schemas can't express, in any JSON value. `known` are the pointers that have a violation already. */
export type BodyCheck = (body: unknown, known: ReadonlySet<string>) => Violation[];

export type ApiOptions<Ids extends OperationId> = AccessOptions & {
  document: ContractDocument;
  handlers: HandlersOf<Ids>;
  bodyChecks: Partial<Record<Ids, BodyCheck>>;
  /** Whether a query parameter that the contract does not know is ignored rather than refused. */
  ignoreUnknownQuery: boolean;
  isDraining: () => boolean;
  bodyTimeoutMs: number;
};

function requireMethod(methods: readonly string[]): RequestHandler {
  const Allow = methods.join(", ");
  return (request, _response, next) => {
    if (!methods.includes(request.method))
      throw new ProblemError("METHOD_NOT_ALLOWED", {
        detail: `${request.path} does not support ${request.method}. It supports ${Allow}.`,
        headers: { Allow },
      });
    next();
  };
}

function stepsOf<Ids extends OperationId>(
  at: ServedOperation,
  validator: RequestValidator,
  options: ApiOptions<Ids>,
): (Middleware | ErrorMiddleware)[] {
  const { operation } = at;
  const id = operation.operationId as Ids; // the bundle and the types come from one document
  const fields = decimalFields(options.document, operation);
  const checkBody: BodyCheck = options.bodyChecks[id] ?? (() => []);
  return [
    refuseWhileDraining(options.isDraining),
    requireAccess(scopesOf(operation), options),
    requireAcceptance(sendsStream(options.document, at)),
    ...readBodyOf(operation, options.bodyTimeoutMs),
    interceptAt("body", id),
    ...validator.stepsFor(at, ({ body }, locals: RequestLocals, known) => [
      ...checkLiterals(fields, locals.literals ?? []),
      ...checkBody(body, known),
    ]),
    interceptAt("handler", id),
    handle(id, options),
  ];
}

/** Calls the function that a program around the app has left in the locals of this call, if any. */
function interceptAt(point: "body" | "handler", id: OperationId): Middleware {
  return (request, response, next) => {
    response.locals.intercept?.(point, id, request, response);
    if (!response.destroyed) next();
  };
}

/** Refuses requests on connections that are still open while the server drains; the caller connects elsewhere then. */
function refuseWhileDraining(isDraining: () => boolean): Middleware {
  return (_request, response, next) => {
    if (!isDraining()) return next();
    response.set("Connection", "close");
    throw unavailable();
  };
}

function sendsStream(document: ContractDocument, { path, method }: ServedOperation): boolean {
  const [responses, at] = follow(document, ["paths", path, method, "responses"]);
  if (!("200" in responses)) return false;
  const [{ content }] = follow(document, [...at, "200"]);
  return typeof content === "object" && content !== null && EVENT_STREAM in content;
}

function readBodyOf({ requestBody }: ContractOperation, timeoutMs: number): Middleware[] {
  if (!requestBody) return [];
  const steps = [requireJson, readBody(timeoutMs)];
  return requestBody.required ? steps : steps.map(allowAbsentBody);
}

function handle<Ids extends OperationId>(
  id: Ids,
  { handlers, refuseBlocked, deadline }: ApiOptions<Ids>,
): Middleware {
  // The handler of an id takes the requests of that id, which the compiler can't see here.
  const handler = handlers[id] as unknown as (request: unknown) => Promise<AnyResponse>;
  return async (request, response) => {
    const { body, params: path, query } = request;
    const { caller: owner, slot, trace } = response.locals;
    if (!owner || !slot) throw new Error("the request has no verified token, or no slot");
    refuseBlocked(owner); // again, because the caller may have been blocked while the body arrived
    const { merchant } = owner;
    const caller = toIdentity(response.locals);
    const run = (timeLimit: TimeLimit) =>
      slot.run(() => handler({ merchant, caller, trace, body, path, query, timeLimit }));
    sendResponse(request, response, await deadline(response, run));
  };
}
