import type { ValidateFunction } from "ajv/dist/2020.js";
import { type CompileSchema, createCompiler, follow, type Place } from "./compile-schema.ts";
import { type ContractDocument, operationsOf } from "./contract.ts";

/** An answer, as it is about to go over the wire. */
export interface Answer {
  status: number;
  /** The value of a header, by its name in lower case. */
  header: (name: string) => string | undefined;
  bytes: Buffer;
}

/** Says what of an answer the contract does not allow; empty when it is as documented. */
export type CheckAnswer = (answer: Answer) => string[];

/** Finds the check for the answers to a call; there is none where the contract has no such operation. */
export type FindCheck = (method: string, path: string) => CheckAnswer | undefined;

/** Compiles everything that the contract says of answers: statuses, headers, media types and bodies. */
export function compileAnswerChecks(document: ContractDocument): FindCheck {
  const compile = createCompiler(document);
  const checks = operationsOf(document).flatMap(([template, operations]) =>
    operations.map(({ method }) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      check: compileResponses(document, ["paths", template, method, "responses"], compile),
    })),
  );
  return (method, path) => checks.find((known) => known.method === method && known.path.test(path))?.check;
}

function compileResponses(document: ContractDocument, place: Place, compile: CompileSchema): CheckAnswer {
  const [responses] = follow(document, place);
  const checks = new Map(
    Object.keys(responses).map((status) => [
      Number(status),
      compileResponse(document, [...place, status], compile),
    ]),
  );
  return (answer) => checks.get(answer.status)?.(answer) ?? [`status ${answer.status} is not documented`];
}

function compileResponse(document: ContractDocument, at: Place, compile: CompileSchema): CheckAnswer {
  const [response, place] = follow(document, at);
  const headers = Object.keys(response.headers ?? {}).map((name) =>
    compileHeader(document, [...place, "headers", name], name, compile),
  );
  const bodies = new Map(
    Object.keys(response.content ?? {}).map((type) => [type, compile([...place, "content", type, "schema"])]),
  );
  return (answer) => [...headers.flatMap((check) => check(answer)), ...bodyFaults(bodies, answer)];
}

function compileHeader(
  document: ContractDocument,
  at: Place,
  name: string,
  compile: CompileSchema,
): CheckAnswer {
  const [header, place] = follow(document, at);
  const [schema] = follow(document, [...place, "schema"]);
  const validate = compile([...place, "schema"]);
  return (answer) => {
    const text = answer.header(name.toLowerCase());
    if (text === undefined) return header.required === true ? [`header ${name} is missing`] : [];
    const value = schema.type === "integer" && /^-?\d+$/.test(text) ? Number(text) : text;
    return validate(value) ? [] : faultsOf(`header ${name}`, validate);
  };
}

function bodyFaults(bodies: ReadonlyMap<string, ValidateFunction>, { header, bytes }: Answer): string[] {
  const type = header("content-type");
  if (bodies.size === 0) return bytes.length === 0 ? [] : ["has a body, and none is documented"];
  const validate = bodies.get(type?.replace(/; ?charset=utf-8$/i, "") ?? "");
  if (!validate) return [`content type ${type ?? "(none)"} is not documented`];
  try {
    return validate(JSON.parse(bytes.toString("utf8"))) ? [] : faultsOf("body", validate);
  } catch {
    return ["body is not JSON"];
  }
}

/** Where it is wrong and how, never what stands there. */
function faultsOf(name: string, { errors }: ValidateFunction): string[] {
  return (errors ?? []).map(({ instancePath, message }) => `${name}${instancePath} ${message}`);
}
