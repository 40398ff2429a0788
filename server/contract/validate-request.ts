import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { parse } from "node:url";
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from "express";
import * as openApiValidator from "express-openapi-validator";
import { toPointer } from "../../openapi/document/pointer.ts";
import {
  type ContractDocument,
  type ContractOperation,
  follow,
  type ServedOperation,
  servedOperations,
} from "./contract-document.ts";
import { invalidRequestError, type Violation } from "./problem.ts";
import { MAX_MEMBERS } from "./scan-json.ts";
import { toValidationDocument } from "./validation-document.ts";
import { findSurrogates, readPatternMessages, toViolations, type ValidatorError } from "./violations.ts";

/**
 * Validates requests by the schemas of the contract with express-openapi-validator, and by what schemas can't express.
 *
 * The app needs `case sensitive routing` and `strict routing`, which the validator reads to find the operation of a request.
 */
export function createRequestValidator(
  document: ContractDocument,
  { ignoreUnknownQuery }: { ignoreUnknownQuery: boolean },
): RequestValidator {
  speedUpUrlParse();
  const patterns = readPatternMessages(document);
  let created: ReturnType<typeof createMiddlewares> | undefined;
  /** Created with the first request, because the library reads the whole document and compiles the schema of OpenAPI. */
  const run =
    (name: "find" | "validate"): RequestHandler =>
    (request, response, next) => {
      created ??= createMiddlewares(document);
      created[name](request, response, next);
    };
  const [find, validate] = [run("find"), run("validate")];

  return {
    stepsFor<Locals>(at: ServedOperation, findViolations: FindViolations<Locals>) {
      const findUnknown = ignoreUnknownQuery ? () => [] : findUnknownQuery(document, at);
      /** Where several checks find an error in a field, the message of the first one counts. */
      const complete = (ofSchemas: Violation[], request: Request, response: Response) => {
        const violations = [...ofSchemas, ...findUnknown(request)];
        violations.push(...findSurrogates(request.body, pointersOf(violations)));
        const known = pointersOf(violations);
        const further = findViolations(request, response.locals as Locals, known);
        return [...violations, ...further.filter(({ pointer }) => !known.has(pointer))];
      };
      const reportErrors: ErrorRequestHandler = (error, request, response, next) => {
        if (!(error instanceof openApiValidator.error.BadRequest)) return next(error);
        const ofSchemas = toViolations(error.errors as ValidatorError[], request.body, patterns);
        next(invalidRequestError(complete(ofSchemas, request, response)));
      };
      const requireNone: RequestHandler = (request, response, next) => {
        const violations = complete([], request, response);
        next(violations.length > 0 ? invalidRequestError(violations) : undefined);
      };
      return [useOneContentType(at.operation), findOnce(find), validate, reportErrors, requireNone];
    },

    async warmUp(app) {
      for (const { path, method, operation } of servedOperations(document)) {
        const request = createRequest(app, method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x"));
        await runAll([useOneContentType(operation), find, validate], request);
      }
    },
  };
}

/**
 * Finds violations that schemas can't express. The body of the request may be any JSON value.
 * @param known the pointers that have a violation already; a second one for the same pointer would be dropped
 */
export type FindViolations<Locals> = (
  request: Request,
  locals: Locals,
  known: ReadonlySet<string>,
) => Violation[];

type Step = RequestHandler | ErrorRequestHandler;

export type RequestValidator = {
  /** The steps that validate one operation. They pass on valid requests alone, with parsed parameters. */
  stepsFor<Locals>(at: ServedOperation, findViolations: FindViolations<Locals>): Step[];
  /** Compiles every schema; otherwise the first request of each operation would wait for that. */
  warmUp(app: Express): Promise<void>;
};

function pointersOf(violations: readonly Violation[]): ReadonlySet<string> {
  return new Set(violations.map(({ pointer }) => pointer));
}

type ValidatorOptions = Parameters<typeof openApiValidator.middleware>[0];

type Middlewares = { find: RequestHandler; validate: RequestHandler };

/** All servers of a process share what was compiled for a document, because a test suite starts many. */
const middlewaresOf = new WeakMap<ContractDocument, Middlewares>();

/** The library's step that finds the operation of a request, and the one that validates. Its other steps do nothing here. */
function createMiddlewares(document: ContractDocument): Middlewares {
  const known = middlewaresOf.get(document);
  if (known) return known;
  const middlewares = openApiValidator.middleware({
    // The library's type asks for every part of a document; the document is linted.
    apiSpec: toValidationDocument(document) as unknown as ValidatorOptions["apiSpec"],
    validateApiSpec: false,
    $refParser: { mode: "dereference" },
    // Otherwise the library would report the first unknown parameter, and nothing else.
    validateRequests: { allErrors: true, allowUnknownQueryParameters: true },
    // The response guard does this, and covers more: statuses, headers, and responses that are not sent by `response.json`.
    validateResponses: false,
    validateSecurity: false,
    fileUploader: false,
    ajvFormats: { mode: "full" },
  });
  // Their type wants `request.openapi`, which the first of them sets.
  const steps = new Map((middlewares as unknown as RequestHandler[]).map((step) => [step.name, step]));
  const [find, validate] = [steps.get("metadataMiddleware"), steps.get("requestMiddleware")];
  if (!find || !validate) throw new Error("express-openapi-validator has other steps than expected");
  middlewaresOf.set(document, { find, validate });
  return { find, validate };
}

/** Finds the operation with its first request only, because the library compiles the patterns of all paths each time. */
function findOnce(find: RequestHandler): RequestHandler {
  let found: object | undefined;
  return (request, response, next) => {
    if (found) {
      const params = { ...request.params };
      Object.assign(request, { params, openapi: { ...found, pathParams: params } });
      return next();
    }
    find(request, response, (error) => {
      if (error === undefined && "openapi" in request) found = request.openapi as object;
      next(error);
    });
  };
}

/**
 * The validator compiles schemas for each `Content-Type` as it was sent, and keeps them. An earlier step has accepted the
 * media type, so one spelling is enough: with any number of them, a caller could fill the memory.
 */
function useOneContentType({ requestBody }: ContractOperation): RequestHandler {
  return (request, _response, next) => {
    if (requestBody) request.headers["content-type"] = "application/json";
    else delete request.headers["content-type"];
    next();
  };
}

function findUnknownQuery(
  document: ContractDocument,
  { path, method, operation: { parameters = [] } }: ServedOperation,
): (request: Request) => Violation[] {
  const declared = parameters.map(
    (_, index) => follow(document, ["paths", path, method, "parameters", String(index)])[0],
  );
  const known = new Set(declared.filter((parameter) => parameter.in === "query").map(({ name }) => name));
  return ({ originalUrl }) =>
    queryNames(originalUrl)
      .filter((name) => !known.has(name))
      .slice(0, MAX_MEMBERS)
      .map((name) => ({
        pointer: `/query${toPointer([name])}`,
        message: "is not a field of this object; remove it",
      }));
}

/** The names in the query of a request as they were sent, each once: the validator renames `limit[]` to `limit`. */
function queryNames(url: string): string[] {
  const start = url.indexOf("?");
  return start === -1 ? [] : [...new Set(new URLSearchParams(url.slice(start + 1)).keys())];
}

/** An artificial request of the app, which no caller has sent. */
function createRequest(app: Express, method: string, url: string): Request {
  const request = Object.setPrototypeOf(new IncomingMessage(new Socket()), app.request) as Request;
  return Object.assign(request, { method, url, originalUrl: url, baseUrl: "", params: {}, body: {} });
}

/** Runs middlewares one after the other. An invalid request is fine, because the schemas are compiled then. */
async function runAll(middlewares: readonly RequestHandler[], request: Request): Promise<void> {
  const response = new ServerResponse(request) as Response; // none of the middlewares sends a response
  for (const middleware of middlewares) {
    const error = await new Promise<unknown>((resolve) => {
      middleware(request, response, resolve);
    });
    if (error !== undefined && !(error instanceof openApiValidator.error.BadRequest)) throw error;
  }
}

/**
 * express-openapi-validator calls the deprecated `url.parse` for each request, and Node examines the stack of each such call until
 * it has warned once. This is that call, with the warning switched off.
 */
function speedUpUrlParse(): void {
  const { noDeprecation = false } = process;
  process.noDeprecation = true;
  parse("/");
  process.noDeprecation = noDeprecation;
}
