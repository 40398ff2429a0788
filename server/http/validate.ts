import type { NextFunction, Request, RequestHandler, Response } from "express";
import * as openApiValidator from "express-openapi-validator";
import type { OpenApiValidatorOpts } from "express-openapi-validator/dist/openapi.validator.js";
import type { ContractDocument } from "./contract.ts";
import { invalidBody, type Violation } from "./problem.ts";
import { toValidationDocument } from "./validation-document.ts";
import { toViolations, type ValidatorError } from "./violations.ts";

/** What the contract's schemas can't express about a body; it must bear any JSON value. */
export type BodyCheck = (body: unknown) => Violation[];

/** Validates requests against the contract. */
export function createValidator(
  document: ContractDocument,
  { ignoreUnknownQuery }: { ignoreUnknownQuery: boolean },
): RequestHandler[] {
  return openApiValidator.middleware({
    // The library's type asks for every part of a document; the bundle is linted, and checked again by the library.
    apiSpec: toValidationDocument(document) as unknown as OpenApiValidatorOpts["apiSpec"],
    $refParser: { mode: "dereference" },
    validateRequests: { allErrors: true, allowUnknownQueryParameters: ignoreUnknownQuery },
    // The guard looks at every answer, and at all of it.
    validateResponses: false,
    validateSecurity: false,
    fileUploader: false,
    ajvFormats: { mode: "full" },
  }) as unknown as RequestHandler[];
}

/**
 * Runs the validator and the operation's own checks on one request, so that all faults come back at once. Where both find
 * fault with a field, the schema's word counts.
 */
export function validateCall(validator: readonly RequestHandler[], check: BodyCheck): RequestHandler {
  return async (request, response, next) => {
    const error = await runAll(validator, request, response);
    const faults = validatorErrors(error);
    if (error !== undefined && faults === undefined) return next(error);

    const violations = toViolations(faults ?? [], request.body);
    const known = new Set(violations.map(({ pointer }) => pointer));
    violations.push(...check(request.body).filter(({ pointer }) => !known.has(pointer)));
    next(violations.length > 0 ? invalidBody(violations) : undefined);
  };
}

/** Runs middlewares one after the other; resolves with the error that one of them passes on or throws. */
async function runAll(
  handlers: readonly RequestHandler[],
  request: Request,
  response: Response,
): Promise<unknown | undefined> {
  for (const handler of handlers) {
    const error = await new Promise<unknown>((resolve) => {
      const done: NextFunction = (failure?: unknown) => resolve(failure);
      Promise.resolve(handler(request, response, done)).catch(resolve);
    });
    if (error !== undefined) return error;
  }
  return undefined;
}

function validatorErrors(error: unknown): ValidatorError[] | undefined {
  if (!(error instanceof openApiValidator.error.BadRequest)) return undefined;
  return error.errors as ValidatorError[];
}
