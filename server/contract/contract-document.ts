import { find, isNode, type Node } from "../../openapi/document/document-node.ts";
import { operationsOf } from "../../openapi/document/list-operations.ts";
import { stepsOf, toPointer } from "../../openapi/document/pointer.ts";
import { readGenerated } from "../../openapi/document/read-generated.ts";
import type { components as sandboxComponents } from "../../openapi/generated/sandbox-types.ts";
import type { components } from "../../openapi/generated/types.ts";

/** Reads a document of `openapi/generated`. All servers of a process share it, and what is compiled from it. */
export function readDocument(name: ContractName): ContractDocument {
  const known = documents.get(name);
  if (known) return known;
  const document: ContractDocument = JSON.parse(readGenerated(`${name}.json`));
  documents.set(name, document);
  return document;
}

export type Schemas = components["schemas"];
export type SandboxSchemas = sandboxComponents["schemas"];

/** The parts of a bundled OpenAPI document that the server reads itself; validators read the rest. */
export type ContractDocument = {
  openapi: string;
  paths: Record<string, Partial<Record<Method, ContractOperation>>>;
  components: { schemas: Record<string, Schema>; parameters?: object; requestBodies?: object };
};

type Method = "get" | "post" | "delete";

export type ContractOperation = {
  operationId: string;
  security?: Record<string, string[]>[];
  parameters?: object[];
  responses?: object;
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
};

/** An operation that callers can call, by its path and method. */
export type ServedOperation = { path: string; method: Method; operation: ContractOperation };

/** The keywords of JSON Schema that the server reads itself. */
export type Schema = {
  $ref?: string;
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  discriminator?: { propertyName: string };
  const?: unknown;
  pattern?: string;
  format?: string;
  "x-fraction-digits"?: number;
  "x-pattern-message"?: string;
};

/** The names that lead from the top of a document to one of its nodes. */
export type DocumentPath = readonly string[];
/** Any object of a document. */
export type DocumentNode = Node;

type ContractName = "openapi" | "sandbox";

const documents = new Map<ContractName, ContractDocument>();

/** Finds the node at a path. If it is a reference, finds its target and the target's path instead. */
export function follow(
  document: ContractDocument,
  path: DocumentPath,
): [node: DocumentNode, path: DocumentPath] {
  const [pointer, node] = find(document as unknown as Node, toPointer(path));
  if (!isNode(node)) throw new Error(`the contract has nothing at ${pointer}`);
  return [node, stepsOf(pointer)];
}

/** The schema that a reference leads to, or the schema itself if it isn't one. */
export function resolveSchema(document: ContractDocument, schema: Schema): Schema {
  return schema.$ref === undefined ? schema : follow(document, stepsOf(schema.$ref))[0];
}

/** Calls `visit` with every object and list, outer ones first; five times as fast as `walk`, because it gives no paths. */
export function visitNodes(node: unknown, visit: (node: DocumentNode) => void): void {
  if (typeof node !== "object" || node === null) return;
  visit(node as DocumentNode);
  for (const child of Object.values(node)) visitNodes(child, visit);
}

export function scopesOf(operation: ContractOperation): string[] {
  return (operation.security ?? []).flatMap((requirement) => Object.values(requirement).flat());
}

/** Every operation that callers can call, in the order of the document. */
export function servedOperations(document: ContractDocument): ServedOperation[] {
  return operationsOf(document as unknown as Node, ["paths"]) as unknown as ServedOperation[];
}
