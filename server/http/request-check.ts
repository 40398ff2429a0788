import type { ErrorObject, ValidateFunction } from "ajv/dist/2020.js";
import { createCompiler, follow, type Place, referenceTo } from "./compile-schema.ts";
import type { ContractDocument, ContractOperation, Method } from "./contract.ts";
import type { Violation } from "./problem.ts";
import { toValidationDocument } from "./validation-document.ts";
import { toViolations } from "./violations.ts";

/** The parts of a call that the contract describes; those of the query and the path are changed to their types. */
export interface CallParts {
  body: unknown;
  query: Record<string, unknown>;
  path: Record<string, unknown>;
}

/** Every fault of a call, one for each field that is wrong. */
export type CheckRequest = (call: CallParts) => Violation[];

export type RequestChecks = (path: string, method: Method, operation: ContractOperation) => CheckRequest;

/** Compiles what the contract says of requests: of their bodies, and of the parameters in the query and the path. */
export function createRequestChecks(
  document: ContractDocument,
  { ignoreUnknownQuery }: { ignoreUnknownQuery: boolean },
): RequestChecks {
  const compile = createCompiler(toValidationDocument(document));
  const compileParameters = createCompiler(document, { coerceTypes: true });
  return (path, method, operation) => {
    const at = ["paths", path, method];
    const parameters = (operation.parameters ?? []).map((_, index) => [...at, "parameters", String(index)]);
    const schemaOf = (place: "query" | "path", closed: boolean) =>
      compileParameters(parameterSchema(document, parameters, { in: place, closed }));
    const body =
      operation.requestBody && compile([...at, "requestBody", "content", "application/json", "schema"]);
    const query = schemaOf("query", !ignoreUnknownQuery);
    const names = schemaOf("path", true);
    return (call) => [
      ...faultsOf(names, call.path, "/params"),
      ...faultsOf(query, call.query, "/query"),
      ...(body ? faultsOf(body, call.body, "") : []),
    ];
  };
}

/** The parameters of one kind as the schema of one object. */
function parameterSchema(
  document: ContractDocument,
  places: readonly Place[],
  kind: { in: "query" | "path"; closed: boolean },
): object {
  const declared = places
    .map((place) => follow(document, place))
    .filter(([parameter]) => parameter.in === kind.in)
    .map(([{ name, required }, place]) => ({ name: String(name), required, place }));
  return {
    type: "object",
    additionalProperties: !kind.closed,
    required: declared.filter(({ required }) => required === true).map(({ name }) => name),
    properties: Object.fromEntries(
      declared.map(({ name, place }) => [name, referenceTo([...place, "schema"])]),
    ),
  };
}

function faultsOf(validate: ValidateFunction, value: unknown, prefix: string): Violation[] {
  return validate(value) ? [] : toViolations(validate.errors as ErrorObject[], prefix);
}
