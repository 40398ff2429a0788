import { find, follow, isNode, members, type Node } from "./document-node.ts";
import { operationsOf } from "./list-operations.ts";
import { step, toPointer } from "./pointer.ts";
import { type DocumentName, readGenerated } from "./read-generated.ts";
import { createFindViolations } from "./schema-validators.ts";

/** Reads a contract for tests and docs, from its bundle alone, without any code of the server. */
export function readContract(name: DocumentName): Contract {
  return toContract(JSON.parse(readGenerated(`${name}.json`)));
}

export type Contract = {
  readonly document: Node;
  readonly operations: readonly Operation[];
  operation(id: string): Operation;
  /** Lists everything about a response that the document does not allow; empty when it is as documented. */
  violationsOf(operationId: string, response: HttpResponse): string[];
};

/** An entry of `x-source`: the origin of an element of the contract. `fills` names the clause that says "not shown". */
export type Source =
  | { readonly kind: "specified"; readonly clause: string }
  | { readonly kind: "decided"; readonly decision: string; readonly fills?: string };

/** An `x-retry`: what a call has done, and whether to repeat it. */
export type Retry = {
  readonly outcome: "nothing" | "unknown" | "recorded";
  readonly repeat: "never" | "same" | "changed";
  readonly when?: "retry-after" | "backoff" | "cause-gone";
};

export type Example = { readonly name: string; readonly value: unknown };

export type Operation = {
  readonly id: string;
  readonly path: string;
  readonly method: string;
  readonly statuses: readonly number[];
  readonly requests: readonly Example[];
  /** The examples of each response. Problems have two media types with the same examples. */
  readonly responses: readonly (Example & { readonly status: number })[];
  /** What the document says of each response and, without a status, of no response; none where it says nothing. */
  readonly retries: readonly (Retry & { readonly status?: number })[];
};

export type HttpResponse = { readonly status: number; readonly headers: Headers; readonly body: unknown };

export function toContract(document: Node): Contract {
  const operations = toOperations(document);
  const operation = (id: string) => {
    const found = operations.find((candidate) => candidate.id === id);
    if (!found) throw new Error(`the contract has no operation ${id}`);
    return found;
  };
  const violationsOf = createResponseCheck(document, operation);
  return { document, operations, operation, violationsOf };
}

function toOperations(document: Node): Operation[] {
  return operationsOf(document, ["paths"]).map(({ path, method, operation }) => {
    const responses = members(operation.responses);
    return {
      id: String(operation.operationId),
      path,
      method: method.toUpperCase(),
      statuses: responses.map(([status]) => Number(status)),
      requests: examplesIn(document, operation.requestBody),
      responses: responses.flatMap(([status, response]) =>
        examplesIn(document, response).map((example) => ({ ...example, status: Number(status) })),
      ),
      retries: [["", operation] as const, ...responses].flatMap(([status, part]) => {
        const { "x-retry": retry } = follow(document, part) as { "x-retry"?: Retry };
        return retry ? [{ ...retry, ...(status && { status: Number(status) }) }] : [];
      }),
    };
  });
}

function examplesIn(document: Node, message: unknown): Example[] {
  const [first] = members(follow(document, message).content);
  if (!first) return [];
  return members(first[1].examples).map(([name, example]) => ({
    name,
    value: follow(document, example).value,
  }));
}

function createResponseCheck(document: Node, operation: (id: string) => Operation) {
  const findViolations = createFindViolations(document);

  return (operationId: string, { status, headers, body }: HttpResponse): string[] => {
    const { path, method } = operation(operationId);
    const [pointer, response] = find(
      document,
      toPointer(["paths", path, method.toLowerCase(), "responses", status]),
    );
    if (!isNode(response)) return [`status ${status} is not documented`];

    const violations = members(response.headers).flatMap(([name]) => {
      const [headerPointer, header] = find(document, `${pointer}/headers${step(name)}`);
      const { required, schema } = isNode(header) ? header : {};
      const value = headers.get(name);
      if (value === null) return required ? [`header ${name} is missing`] : [];
      const isInteger = isNode(schema) && schema.type === "integer" && /^-?\d+$/.test(value);
      return findViolations(`${headerPointer}/schema`, isInteger ? Number(value) : value).map(
        (violation) => `header ${name}: ${violation}`,
      );
    });
    const type = headers.get("content-type") ?? "";
    // No media type of the contract has a parameter (D07), so one with a parameter does not match.
    const documented = members(response.content).map(([name]) => name);
    if (documented.length === 0) return body === undefined ? violations : [...violations, "has a body"];
    if (!documented.includes(type)) return [...violations, `media type "${type}" is not documented`];
    const ofBody = findViolations(`${pointer}/content${step(type)}/schema`, body);
    return [...violations, ...ofBody.map((violation) => `body: ${violation}`)];
  };
}
