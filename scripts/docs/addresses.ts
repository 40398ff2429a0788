/** Where the docs explain an operation, a clause or a decision: the page and its heading. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { operationsOf } from "../../openapi/document/list-operations.ts";
import { headingsOf } from "../../openapi/document/markdown-headings.ts";
import { readContract, type Source } from "../../openapi/document/read-contract.ts";
import { ROOT } from "../shared/root.ts";

/** The documents, and the pages of their operations. */
const REFERENCES = { openapi: "reference.html", sandbox: "sandbox-reference.html" } as const;
export type ReferenceName = keyof typeof REFERENCES;
export const REFERENCE_NAMES: readonly ReferenceName[] = ["openapi", "sandbox"];

export function referencePage(name: ReferenceName): string {
  return REFERENCES[name];
}

const operations = new Map(
  REFERENCE_NAMES.flatMap((name) =>
    operationsOf(readContract(name).document).map(({ operation }) => {
      const { operationId, tags } = operation as { operationId: string; tags: readonly string[] };
      const route = `${tags[0]}/${operationId}`.toLowerCase();
      return [operationId, { address: `${REFERENCES[name]}#/${route}`, title: String(operation.summary) }];
    }),
  ),
);

export function findOperation(operationId: string): { address: string; title: string } {
  const found = operations.get(operationId);
  if (!found) throw new Error(`There is no operation ${operationId}.`);
  return found;
}

const headings = new Map(
  ["interface", "decisions"].flatMap((page) =>
    headingsOf(readFileSync(join(ROOT, `docs/${page}.md`), "utf8")).map(({ text: title, anchor }) => {
      const [id = ""] = title.split(" ");
      return [id, { title, page, anchor }] as const;
    }),
  ),
);

export function findHeading(id: string): { title: string; page: string; anchor: string } {
  const found = headings.get(id);
  if (!found) throw new Error(`Neither docs/interface.md nor docs/decisions.md has a heading ${id}.`);
  return found;
}

export function idOf(source: Source): string {
  return source.kind === "specified" ? source.clause : source.decision;
}

/** The open clause that a decision fills, as a list of one or none. */
export const fillsOf = (source: Source): string[] =>
  source.kind === "decided" && source.fills !== undefined && source.fills !== "none" ? [source.fills] : [];
