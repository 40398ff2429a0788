import type { ValidateFunction } from "ajv/dist/2020.js";
import { type CompileSchema, createCompiler } from "./compile-schema.ts";
import { type ContractDocument, type DocumentPath, follow, servedOperations } from "./contract-document.ts";

/**
 * Compiles everything that a document says about responses: statuses, headers, media types and bodies. All servers of a process
 * share the result, because a test suite starts many.
 * @param whenUsed whether to compile the responses of an operation with its first response
 */
export function compileResponseValidators(
  document: ContractDocument,
  options: { whenUsed?: boolean } = {},
): FindResponseValidator {
  const find = compiled.get(document) ?? compileAll(document, options);
  compiled.set(document, find);
  return find;
}

/** A response as it is about to go over the wire. */
export type WireResponse = {
  status: number;
  /** The value of a header, by its name in lower case. */
  header: (name: string) => string | undefined;
  text: string;
};

export const EVENT_STREAM = "text/event-stream";

/** Lists the errors of a response, such as `status 418 is not documented`; empty when the contract allows it. */
export type ValidateResponse = (response: WireResponse) => string[];

/** Finds the validator for the responses of an operation; undefined when the contract has no such operation. */
export type FindResponseValidator = (method: string, path: string) => ValidateResponse | undefined;

const compiled = new WeakMap<ContractDocument, FindResponseValidator>();

function compileAll(
  document: ContractDocument,
  { whenUsed = false }: { whenUsed?: boolean },
): FindResponseValidator {
  let created: CompileSchema | undefined;
  const compile: CompileSchema = (path) => {
    created ??= createCompiler(document);
    return created(path);
  };
  const validators = servedOperations(document).map(({ path, method }) => ({
    method: method.toUpperCase(),
    path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    validate: later(whenUsed, () =>
      compileResponses(document, ["paths", path, method, "responses"], compile),
    ),
  }));
  return (method, path) =>
    validators.find((known) => known.method === method && known.path.test(path))?.validate;
}

function later(whenUsed: boolean, create: () => ValidateResponse): ValidateResponse {
  if (!whenUsed) return create();
  let created: ValidateResponse | undefined;
  return (response) => {
    created ??= create();
    return created(response);
  };
}

function compileResponses(
  document: ContractDocument,
  path: DocumentPath,
  compile: CompileSchema,
): ValidateResponse {
  const [responses] = follow(document, path);
  const byStatus = new Map(
    Object.keys(responses).map((status) => [
      Number(status),
      compileResponse(document, [...path, status], compile),
    ]),
  );
  return (response) =>
    byStatus.get(response.status)?.(response) ?? [`status ${response.status} is not documented`];
}

function compileResponse(
  document: ContractDocument,
  at: DocumentPath,
  compile: CompileSchema,
): ValidateResponse {
  const [documented, path] = follow(document, at);
  const headers = Object.keys(documented.headers ?? {}).map((name) =>
    compileHeader(document, [...path, "headers", name], name, compile),
  );
  const bodies = new Map(
    Object.keys(documented.content ?? {}).map((type) => [
      type,
      compile([...path, "content", type, "schema"]),
    ]),
  );
  return (response) => [
    ...headers.flatMap((validate) => validate(response)),
    ...bodyErrors(bodies, response),
  ];
}

function compileHeader(
  document: ContractDocument,
  at: DocumentPath,
  name: string,
  compile: CompileSchema,
): ValidateResponse {
  const [header, path] = follow(document, at);
  const [schema] = follow(document, [...path, "schema"]);
  const validate = compile([...path, "schema"]);
  return (response) => {
    const text = response.header(name.toLowerCase());
    if (text === undefined) return header.required === true ? [`header ${name} is missing`] : [];
    const value = schema.type === "integer" && /^-?\d+$/.test(text) ? Number(text) : text;
    return validate(value) ? [] : errorsOf(`header ${name}`, validate);
  };
}

function bodyErrors(bodies: ReadonlyMap<string, ValidateFunction>, { header, text }: WireResponse): string[] {
  const type = header("content-type");
  if (bodies.size === 0) return text === "" ? [] : ["has a body, and none is documented"];
  const validate = bodies.get(type ?? "");
  if (!validate) return [`content type ${type ?? "(none)"} is not documented`];
  if (type === EVENT_STREAM) return []; // text, which is checked when it has been received
  try {
    return validate(JSON.parse(text)) ? [] : errorsOf("body", validate);
  } catch {
    return ["body is not JSON"];
  }
}

/** The errors with their location, and without the value found there, which must not be logged. */
function errorsOf(name: string, { errors }: ValidateFunction): string[] {
  return (errors ?? []).map(({ instancePath, message }) => `${name}${instancePath} ${message}`);
}
