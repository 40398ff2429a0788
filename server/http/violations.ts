import type { ErrorObject } from "ajv/dist/2020.js";
import type { Violation } from "./problem.ts";
import { toPointer } from "./raw-json.ts";
import { toMessage } from "./violation-messages.ts";

/** Says that a branch does not hold; the faults inside the branch are reported as well. */
const BRANCH = "if";

/** Translates a validator's faults into violations, one for each field (D07), whose pointers begin with `prefix`. */
export function toViolations(errors: readonly ErrorObject[], prefix: string): Violation[] {
  const violations = new Map<string, Violation>();
  for (const error of errors) {
    if (error.keyword === BRANCH) continue;
    const pointer = prefix + error.instancePath + toPointer(fieldOf(error));
    if (!violations.has(pointer)) violations.set(pointer, { pointer, message: toMessage(error) });
  }
  return [...violations.values()];
}

/** A fault of a whole object that is one field's: the missing one, or the one that is too much. */
function fieldOf({ params }: ErrorObject): string[] {
  const name = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  return name === undefined ? [] : [name];
}
