import type { Violation } from "./problem.ts";
import { toPointer } from "./raw-json.ts";
import { toMessage } from "./violation-messages.ts";

/** A fault as the validator reports it: `/body/…` and the JSON Schema keyword that failed. */
export interface ValidatorError {
  path: string;
  message: string;
  errorCode?: string;
}

/** Translates the validator's faults of a body into violations, one for each field (D07). */
export function toViolations(errors: readonly ValidatorError[], body: unknown): Violation[] {
  const violations = new Map<string, Violation>();
  for (const error of errors) {
    const keyword = error.errorCode?.split(".")[0] ?? "";
    // Says that a branch does not hold; the faults inside the branch are reported as well.
    if (keyword === "if") continue;
    const pointer = toBodyPointer(error.path, keyword, body);
    if (!violations.has(pointer))
      violations.set(pointer, { pointer, message: toMessage(keyword, error.message) });
  }
  return [...violations.values()];
}

const PREFIX = /^\/body/;

/** The validator appends the name of an unknown field without escaping it, and an empty name not at all. */
function toBodyPointer(path: string, keyword: string, body: unknown): string {
  const pointer = path.replace(PREFIX, "");
  if (keyword !== "additionalProperties") return pointer;
  for (let slash = pointer.indexOf("/"); slash !== -1; slash = pointer.indexOf("/", slash + 1)) {
    const holder = resolvePointer(body, pointer.slice(0, slash));
    const name = pointer.slice(slash + 1);
    if (holder !== undefined && Object.hasOwn(holder, name))
      return pointer.slice(0, slash) + toPointer([name]);
  }
  const holder = resolvePointer(body, pointer);
  return holder !== undefined && Object.hasOwn(holder, "") ? pointer + toPointer([""]) : pointer;
}

/** The object or list that a pointer names, if there is one. */
function resolvePointer(body: unknown, pointer: string): object | undefined {
  let value = body;
  for (const escaped of pointer.split("/").slice(1)) {
    const name = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === "object" && value !== null ? value : undefined;
}
