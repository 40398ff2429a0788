import type { Contract } from "../../../openapi/document/contract.ts";
import { isNode, members, type Node, walk } from "../../../openapi/document/node.ts";

/* Changes to the document that the reference is rendered from, for Redoc to show it as it is meant. */

/** A part of the derived document, which is changed in place. */
export type Draft = { [name: string]: unknown };

/** Members of the contract that do not contain elements. */
export const DATA = ["example", "examples", "default", "const", "x-source", "x-enum-source"];

/** Matches every text without U+0000. It only excludes broken text, and would be noise at every field. */
const TEXT_PATTERN = "^[^\\x00]*$";

/**
 * Hides what Redoc shows as noise at every field, and conditions: it shows an object that has some as one shape for each branch,
 * the failed refund first, instead of the one that it is.
 */
export function hideNoise(document: Draft): void {
  for (const { part } of walk(document, DATA)) {
    if (!isNode(part)) continue;
    const hidden = [
      ...(part.pattern === TEXT_PATTERN ? ["pattern"] : []),
      ...("if" in part && "then" in part ? ["if", "then", "else"] : []),
    ];
    for (const keyword of hidden) delete (part as Draft)[keyword];
  }
}

/** Redoc writes examples of strings as JSON, so that quotes in them get backslashes; in a description they are as sent. */
export function quoteExamplesOnce(document: Draft): void {
  for (const { part } of walk(document, DATA)) {
    if (!isNode(part) || typeof part.example !== "string" || !part.example.includes('"')) continue;
    const { example, description = "" } = part as { example: string; description?: string };
    delete (part as Draft).example;
    if (!description.includes(example))
      (part as Draft).description = `${description}\n\nExample: \`${example}\``;
  }
}

/** Lists the statuses of an operation with their error codes, which Redoc shows one at a time. */
export function addStatuses(
  document: Draft,
  contracts: readonly Contract[],
  linkCode: (code: string) => string,
): void {
  for (const { path, method, responses } of contracts.flatMap(({ operations }) => operations)) {
    const operation = (document.paths as Record<string, Record<string, Draft>>)[path]?.[method.toLowerCase()];
    if (!operation) continue;
    const rows = members(operation.responses as Node).map(([status]) => {
      const codes = responses
        .filter((one) => String(one.status) === status)
        .flatMap(({ value }) => codeOf(value));
      return `| ${status} | ${[...new Set(codes)].map(linkCode).join(", ") || "–"} |`;
    });
    if (rows.length < 2) continue;
    const table = ["| status | error codes |", "|---|---|", ...rows].join("\n");
    operation.description = `${operation.description ?? ""}\n\n**Statuses and their error codes**\n\n${table}`;
  }
}

function codeOf(value: unknown): string[] {
  const code = (value as { errorDetails?: { errorCode: string } } | undefined)?.errorDetails?.errorCode;
  return code === undefined ? [] : [code];
}
