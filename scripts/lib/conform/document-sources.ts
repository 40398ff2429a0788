import type { Constraint } from "../constraints/constraint.ts";
import { stepsOf } from "../constraints/pointer.ts";
import { isJson } from "./expect.ts";

/** What says so when no part of the document around it does: the clause of the whole body. */
const BODY_SOURCES: Readonly<Record<string, readonly string[]>> = {
  issueRefund: ["7.3"],
  subscribeToWebhooks: ["8.3"],
};

/** Decisions about every place of a kind, which stand at none of them. */
const KEYWORD_SOURCES: Readonly<Record<string, readonly string[]>> = { additionalProperties: ["D15"] };

/** The clauses and decisions that the document names for a constraint: those of the nearest part around it. */
export function sourcesOf(document: unknown, constraint: Constraint): string[] {
  const { keyword, operationId } = constraint;
  const found = nearestSources(document, constraint);
  const named = found.length > 0 ? found : (BODY_SOURCES[operationId] ?? []);
  return [...new Set([...(KEYWORD_SOURCES[keyword] ?? []), ...named])];
}

function nearestSources(document: unknown, { pointer }: Constraint): string[] {
  let part = document;
  let nearest: string[] = [];
  for (const name of stepsOf(pointer)) {
    part = isJson(part) || Array.isArray(part) ? Reflect.get(part, name) : undefined;
    nearest = isJson(part) && Array.isArray(part["x-source"]) ? toIds(part["x-source"]) : nearest;
  }
  return nearest;
}

function toIds(sources: readonly unknown[]): string[] {
  return sources.flatMap((source) => (isJson(source) ? String(source.clause ?? source.decision) : []));
}
