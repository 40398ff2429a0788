import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { authenticate, authorize, type Caller, type FindCaller } from "./authenticate.ts";
import { type Admission, refuseExcess } from "./backpressure.ts";
import { allowAbsentBody, readBody, requireJson } from "./body.ts";
import { type ContractDocument, type ContractOperation, operationsOf, scopesOf } from "./contract.ts";
import { refuseWhile } from "./envelope.ts";
import { requireAcceptance } from "./negotiate.ts";
import { checkLiterals, decimalPlaces } from "./number-literals.ts";
import type { Call, HandlersOf, OperationId } from "./operations.ts";
import type { Patience } from "./patience.ts";
import { ProblemError } from "./problem.ts";
import type { TakeQuota } from "./rate-limit.ts";
import { type AnyReply, sendReply } from "./reply.ts";
import { type CallParts, type CheckRequest, createRequestChecks } from "./request-check.ts";
import { type BodyCheck, validateCall } from "./validate.ts";

export interface ApiOptions<Ids extends OperationId> {
  document: ContractDocument;
  handlers: HandlersOf<Ids>;
  /** Checks of bodies that schemas can't express. */
  checks: Partial<Record<Ids, BodyCheck>>;
  /** Whether a query parameter that the contract does not know is ignored rather than refused. */
  ignoreUnknownQuery: boolean;
  findCaller: FindCaller;
  takeQuota: TakeQuota;
  admission: Admission;
  isDraining: () => boolean;
  /** Bounds how long a call waits for the store. */
  patience: Patience;
  /** Milliseconds that a caller has to send a body. */
  bodyTimeoutMs: number;
}

/** Serves every operation of the contract. The checks of a call come in the order of D08a: the first fault answers. */
export function createApi<Ids extends OperationId>(options: ApiOptions<Ids>): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const createCheck = createRequestChecks(options.document, options);
  for (const [path, operations] of operationsOf(options.document)) {
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ":$1"));
    route.all(requireMethod(operations.map(({ method }) => method.toUpperCase())));
    for (const { method, operation } of operations) {
      route[method](...serve(operation, createCheck(path, method, operation), options));
    }
  }
  return router;
}

function requireMethod(methods: readonly string[]): RequestHandler {
  const Allow = methods.join(", ");
  return (request, _response, next) => {
    if (!methods.includes(request.method))
      throw new ProblemError("METHOD_NOT_ALLOWED", { headers: { Allow } });
    next();
  };
}

function serve<Ids extends OperationId>(
  operation: ContractOperation,
  checkRequest: CheckRequest,
  options: ApiOptions<Ids>,
): RequestHandler[] {
  const id = operation.operationId as Ids; // the bundle and the types come from one document
  const places = decimalPlaces(options.document, operation);
  const check: BodyCheck = options.checks[id] ?? (() => []);
  // The type of each handler says which call it takes; the id in the contract says which handler.
  const handler = options.handlers[id] as unknown as (call: unknown) => Promise<AnyReply>;
  return [
    refuseWhile(options.isDraining),
    refuseExcess(options.admission.isFull),
    identify(scopesOf(operation), options),
    requireAcceptance,
    ...readBodyOf(operation, options.bodyTimeoutMs),
    validateCall(checkRequest, (body) => [...checkLiterals(places, body), ...check(body)]),
    async (request, response) => {
      const run = () => options.admission.admit(() => handler(toCall(response)));
      sendReply(request, response, await options.patience(response, run));
    },
  ];
}

function readBodyOf({ requestBody }: ContractOperation, timeoutMs: number): RequestHandler[] {
  if (!requestBody) return [];
  const handlers = [requireJson, readBody(timeoutMs)];
  return requestBody.required ? handlers : handlers.map(allowAbsentBody);
}

/** Token, scope and quota of the caller. */
function identify(
  scopes: readonly string[],
  { findCaller, takeQuota, patience }: Pick<ApiOptions<OperationId>, "findCaller" | "takeQuota" | "patience">,
): RequestHandler {
  return async (request: Request, response: Response, next) => {
    const headers = await patience(response, async () => {
      const caller = await authenticate(request.headers.authorization, findCaller);
      response.locals.caller = caller satisfies Caller;
      authorize(caller, scopes);
      return takeQuota(caller.merchant);
    });
    response.set(headers);
    next();
  };
}

function toCall(response: Response): Record<keyof Call<OperationId>, unknown> {
  const { merchant }: Caller = response.locals.caller;
  const call: CallParts = response.locals.call;
  return { merchant, ...call };
}
