import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../redocly.ts";

/** An operation of a contract, a webhook included. */
export type DocumentedOperation = {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
};

type Document = { readonly paths?: unknown; readonly webhooks?: unknown };

/** Finds an operation of any of the contracts by its id. Fails for one that none has. */
export type FindOperation = (operationId: string) => DocumentedOperation;

export function createFindOperation(documents: readonly Document[]): FindOperation {
  const operations = new Map(documents.flatMap(operationsOf).map((one) => [one.operationId, one]));
  return (operationId) => {
    const operation = operations.get(operationId);
    if (!operation) throw new Error(`There is no operation ${operationId}.`);
    return operation;
  };
}

function operationsOf({ paths, webhooks }: Document): DocumentedOperation[] {
  const items = [...Object.values(paths ?? {}), ...Object.values(webhooks ?? {})];
  return items.flatMap((item) =>
    Object.values(item as object).filter((one) => one?.operationId !== undefined),
  );
}

/** The operation that a link to a file of the contract means: the one named after `#`, or else the only one in it. */
export function operationInFile(file: string, name: string | undefined): string {
  const text = readFileSync(join(ROOT, file), "utf8");
  const ids = [...text.matchAll(/operationId: (\w+)/g)].map(([, id = ""]) => id);
  const id = name ?? (ids.length === 1 ? ids[0] : undefined);
  if (id === undefined || !ids.includes(id))
    throw new Error(`${file} has ${ids.join(", ")}: name one of them.`);
  return id;
}
