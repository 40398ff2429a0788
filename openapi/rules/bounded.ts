import { keywordsHolding } from "../document/keywords.ts";
import { createConditions } from "./conditions.ts";
import {
  type DocumentNode,
  isEnumerated,
  isNode,
  isReason,
  type Rule,
  typesOf,
  type Visit,
  visitRequestNodes,
} from "./redocly.ts";

const fixedFormats = ["uuid", "date", "date-time"];
const applicators = ["$ref", ...keywordsHolding("branches", "condition")];

/**
 * Holds every string, array and number to a size that a reader can rely on and a server can defend. A string that
 * cannot have one says why in `x-unbounded`, and only in what the service sends.
 */
export const bounded: Rule = () => {
  const conditions = createConditions();
  const requested = new Set<unknown>();
  const refuseUnbounded: Visit = (schema, ctx) =>
    visitRequestNodes(schema, ctx, requested, (node, location) => {
      if (!("x-unbounded" in node)) return;
      const message = "A request cannot be unbounded: replace `x-unbounded` by `maxLength`.";
      ctx.report({ message, location: location.child("x-unbounded").key() });
    });
  return {
    Schema(schema, ctx) {
      if (!isNode(schema)) return;
      conditions.enter(schema, ctx);
      if (conditions.has(schema)) return;

      // A branch of a composition may leave the type to the schema around it.
      const violation = Array.isArray(ctx.parent) ? undefined : violationOfType(schema);
      for (const message of [violation, ...violationsOfSize(schema), violationOfUnbounded(schema)]) {
        if (message !== undefined) ctx.report({ message });
      }
    },
    Paths: { RequestBody: { Schema: refuseUnbounded }, Parameter: { Schema: refuseUnbounded } },
  };
};

function violationOfType(schema: DocumentNode): string | undefined {
  if (typesOf(schema).length > 0 || isEnumerated(schema)) return undefined;
  if (applicators.some((keyword) => keyword in schema)) return undefined;
  return "The schema takes any value: say its `type`.";
}

function violationsOfSize(schema: DocumentNode): (string | undefined)[] {
  if (isEnumerated(schema)) return [];
  return typesOf(schema).map((type) => {
    switch (type) {
      case "string":
        return violationOfString(schema);
      case "array":
        return violationOfArray(schema);
      case "number":
      case "integer":
        return violationOfNumber(schema);
      default:
        return undefined;
    }
  });
}

function violationOfString(schema: DocumentNode): string | undefined {
  if (isNumber(schema.maxLength) || fixedFormats.some((format) => format === schema.format)) return undefined;
  if ("x-unbounded" in schema) return undefined;
  return `The string has no bound: add \`maxLength\`, \`enum\`, \`const\` or one of the formats ${fixedFormats.join(", ")}.`;
}

function violationOfArray(schema: DocumentNode): string | undefined {
  if (!isNumber(schema.maxItems)) return "The array has no bound: add `maxItems`.";
  if (!("items" in schema)) return "The array takes any items: describe them in `items`.";
  return undefined;
}

function violationOfNumber(schema: DocumentNode): string | undefined {
  const missing = [
    isNumber(schema.minimum) || isNumber(schema.exclusiveMinimum) ? [] : ["`minimum` or `exclusiveMinimum`"],
    isNumber(schema.maximum) || isNumber(schema.exclusiveMaximum) ? [] : ["`maximum` or `exclusiveMaximum`"],
  ].flat();
  return missing.length === 0 ? undefined : `The number has no bound: add ${missing.join(", and ")}.`;
}

function violationOfUnbounded(schema: DocumentNode): string | undefined {
  if (!("x-unbounded" in schema)) return undefined;
  if (!typesOf(schema).includes("string")) return "`x-unbounded` belongs on a string: remove it.";
  if (isNumber(schema.maxLength)) return "`x-unbounded` contradicts `maxLength`: remove one.";
  return isReason(schema["x-unbounded"]) ? undefined : "`x-unbounded` has to give the reason in words.";
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
