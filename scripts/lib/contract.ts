import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

/** A part of an OpenAPI document. */
type Node = { readonly [name: string]: unknown };

/** A named example, in the form of the document. */
export type Example = { readonly name: string; readonly value: unknown };

export type Operation = {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly statuses: readonly number[];
  readonly requests: readonly Example[];
  /** The examples of each answer. A problem stands under two media types, with the same examples. */
  readonly responses: readonly (Example & { readonly status: number })[];
};

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

/** A contract as tests see it: read from the bundle alone, and with no part of the server. */
export type Contract = {
  readonly document: Node;
  readonly operations: readonly Operation[];
  operation(id: string): Operation;
  /** Everything about an answer that the document does not allow; empty when it is as documented. */
  faultsOf(operationId: string, answer: Answer): string[];
};

export function readContract(name: "openapi" | "sandbox"): Contract {
  const url = new URL(`../../openapi/generated/${name}.json`, import.meta.url);
  return toContract(JSON.parse(readFileSync(url, "utf8")));
}

/** The contract that a bundled document makes. */
export function toContract(document: Node): Contract {
  const operations = toOperations(document);
  const operation = (id: string) => {
    const found = operations.find((candidate) => candidate.id === id);
    if (!found) throw new Error(`the contract has no operation ${id}`);
    return found;
  };
  const faultsOf = createAnswerCheck(document, operation);
  return { document, operations, operation, faultsOf };
}

function toOperations(document: Node): Operation[] {
  return entries(document.paths).flatMap(([path, item]) =>
    entries(item).map(([method, operation]) => {
      const responses = entries(operation.responses);
      return {
        id: String(operation.operationId),
        path,
        method: method.toUpperCase(),
        statuses: responses.map(([status]) => Number(status)),
        requests: examplesIn(document, operation.requestBody),
        responses: responses.flatMap(([status, response]) =>
          examplesIn(document, response).map((example) => ({ ...example, status: Number(status) })),
        ),
      };
    }),
  );
}

function examplesIn(document: Node, message: unknown): Example[] {
  const [first] = entries(resolve(document, message).content);
  if (!first) return [];
  return entries(first[1].examples).map(([name, example]) => ({
    name,
    value: resolve(document, example).value,
  }));
}

function createAnswerCheck(document: Node, operation: (id: string) => Operation) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "contract");

  const compiled = new Map<string, ValidateFunction>();
  const schemaFaults = (place: string, pointer: string, value: unknown): string[] => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `contract#${pointer}` });
    compiled.set(pointer, validate);
    return validate(value) ? [] : [`${place}: ${ajv.errorsText(validate.errors)}`];
  };

  return (operationId: string, { status, headers, body }: Answer): string[] => {
    const { path, method } = operation(operationId);
    const at = `/paths/${toPointer(path)}/${method.toLowerCase()}/responses/${status}`;
    const [pointer, response] = locate(document, at);
    if (!response) return [`status ${status} is not documented`];

    const faults = entries(response.headers).flatMap(([name]) => {
      const [headerPointer, header] = locate(document, `${pointer}/headers/${toPointer(name)}`);
      const value = headers.get(name);
      if (value === null) return header?.required ? [`header ${name} is missing`] : [];
      const numeric = typeOf(header) === "integer" && /^-?\d+$/.test(value);
      return schemaFaults(`header ${name}`, `${headerPointer}/schema`, numeric ? Number(value) : value);
    });
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    const documented = entries(response.content).map(([name]) => name);
    if (documented.length === 0) return body === undefined ? faults : [...faults, "has a body"];
    if (!documented.includes(type)) return [...faults, `media type "${type}" is not documented`];
    return [...faults, ...schemaFaults("body", `${pointer}/content/${toPointer(type)}/schema`, body)];
  };
}

function typeOf(header: Node | undefined): unknown {
  return (header?.schema as Node | undefined)?.type;
}

/** Where a part of the document stands after references are followed, and the part. */
function locate(document: Node, pointer: string): [string, Node | undefined] {
  const names = pointer.split("/").slice(1);
  const part = names.reduce<unknown>(
    (holder, name) => (holder as Node | undefined)?.[fromPointer(name)],
    document,
  );
  const reference = (part as Node | undefined)?.$ref;
  return typeof reference === "string"
    ? locate(document, reference.slice(1))
    : [pointer, part as Node | undefined];
}

function resolve(document: Node, part: unknown): Node {
  const reference = (part as Node | undefined)?.$ref;
  const target = typeof reference === "string" ? locate(document, reference.slice(1))[1] : (part as Node);
  return target ?? {};
}

function entries(part: unknown): [string, Node][] {
  return Object.entries((part ?? {}) as Record<string, Node>);
}

function toPointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function fromPointer(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}
