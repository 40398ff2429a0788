import { readFile } from "node:fs/promises";

/** The parts of a bundled OpenAPI document that the server reads itself; the rest is the validator's. */
export interface ContractDocument {
  openapi: string;
  paths: Record<string, Partial<Record<Method, ContractOperation>>>;
  components: { schemas: Record<string, Schema> };
}

const METHODS = ["get", "post", "delete"] as const;
export type Method = (typeof METHODS)[number];

export interface ContractOperation {
  operationId: string;
  security?: Record<string, string[]>[];
  parameters?: object[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
}

/** A JSON Schema, as far as the server looks into it. */
export interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  oneOf?: Schema[];
  discriminator?: { propertyName: string };
  const?: unknown;
  "x-fraction-digits"?: number;
}

/** Reads a document out of `openapi/generated`. */
export async function readContract(name: "openapi" | "sandbox"): Promise<ContractDocument> {
  const file = new URL(`../../openapi/generated/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8"));
}

/** Follows a reference inside the document. */
export function resolveSchema(document: ContractDocument, schema: Schema): Schema {
  const name = schema.$ref?.match(/^#\/components\/schemas\/(.+)$/)?.[1];
  return name === undefined ? schema : (document.components.schemas[name] ?? schema);
}

/** The scopes that an operation asks of the access token. */
export function scopesOf(operation: ContractOperation): string[] {
  return (operation.security ?? []).flatMap((requirement) => Object.values(requirement).flat());
}

/** Every path of the document with the operations on it. */
export function operationsOf(
  document: ContractDocument,
): [path: string, operations: { method: Method; operation: ContractOperation }[]][] {
  return Object.entries(document.paths).map(([path, item]) => [
    path,
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ method, operation }] : [];
    }),
  ]);
}
