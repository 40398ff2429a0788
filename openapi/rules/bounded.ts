import { createConditions } from "./conditions.ts";
import { type Context, type DocumentNode, isNode, isReason, type Rule, type Visit } from "./redocly.ts";
import { isEnumerated, typesOf } from "./schema-types.ts";

const fixedFormats = ["uuid", "date", "date-time"];
const applicators = ["$ref", "allOf", "anyOf", "oneOf", "if", "not"];

/**
 * Holds every string, array and number to a size that a reader can rely on and a server can defend. A string that
 * cannot have one says why in `x-unbounded`, and only in what the service sends.
 */
export const bounded: Rule = () => {
  const conditions = createConditions();
  const requested = new Set<unknown>();
  const refuseUnbounded: Visit = (schema, ctx) => refuseUnboundedIn(schema, ctx, requested);
  return {
    Schema(schema, ctx) {
      if (!isNode(schema)) return;
      conditions.enter(schema, ctx);
      if (conditions.has(schema)) return;

      // A branch of a composition may leave the type to the schema around it.
      const fault = Array.isArray(ctx.parent) ? undefined : faultOfType(schema);
      for (const message of [fault, ...faultsOfSize(schema), faultOfUnbounded(schema)]) {
        if (message !== undefined) ctx.report({ message });
      }
    },
    Paths: { RequestBody: { Schema: refuseUnbounded }, Parameter: { Schema: refuseUnbounded } },
  };
};

function faultOfType(schema: DocumentNode): string | undefined {
  if (typesOf(schema).length > 0 || isEnumerated(schema)) return undefined;
  if (applicators.some((keyword) => keyword in schema)) return undefined;
  return "The schema takes any value: say its `type`.";
}

function faultsOfSize(schema: DocumentNode): (string | undefined)[] {
  if (isEnumerated(schema)) return [];
  return typesOf(schema).map((type) => {
    switch (type) {
      case "string":
        return faultOfString(schema);
      case "array":
        return faultOfArray(schema);
      case "number":
      case "integer":
        return faultOfNumber(schema);
      default:
        return undefined;
    }
  });
}

function faultOfString(schema: DocumentNode): string | undefined {
  if (isNumber(schema.maxLength) || fixedFormats.some((format) => format === schema.format)) return undefined;
  if ("x-unbounded" in schema) return undefined;
  return `The string has no bound: add \`maxLength\`, \`enum\`, \`const\` or one of the formats ${fixedFormats.join(", ")}.`;
}

function faultOfArray(schema: DocumentNode): string | undefined {
  if (!isNumber(schema.maxItems)) return "The array has no bound: add `maxItems`.";
  if (!("items" in schema)) return "The array takes any items: describe them in `items`.";
  return undefined;
}

function faultOfNumber(schema: DocumentNode): string | undefined {
  const missing = [
    isNumber(schema.minimum) || isNumber(schema.exclusiveMinimum) ? [] : ["`minimum` or `exclusiveMinimum`"],
    isNumber(schema.maximum) || isNumber(schema.exclusiveMaximum) ? [] : ["`maximum` or `exclusiveMaximum`"],
  ].flat();
  return missing.length === 0 ? undefined : `The number has no bound: add ${missing.join(", and ")}.`;
}

function faultOfUnbounded(schema: DocumentNode): string | undefined {
  if (!("x-unbounded" in schema)) return undefined;
  if (!typesOf(schema).includes("string")) return "`x-unbounded` belongs on a string: remove it.";
  if (isNumber(schema.maxLength)) return "`x-unbounded` contradicts `maxLength`: remove one.";
  return isReason(schema["x-unbounded"]) ? undefined : "`x-unbounded` has to give the reason in words.";
}

/**
 * What a caller sends is never unbounded, at any depth. The walk is our own: below a type, Redocly's nested visitors enter
 * only the outermost schema.
 */
function refuseUnboundedIn(schema: unknown, ctx: Context, seen: Set<unknown>, at = ctx.location): void {
  const { node, location } = ctx.resolve(schema, at.source.absoluteRef);
  if (typeof node !== "object" || node === null || seen.has(node)) return;
  seen.add(node);

  const place = node === schema ? at : (location ?? at);
  if ("x-unbounded" in node) {
    const message = "A request cannot be unbounded: replace `x-unbounded` by `maxLength`.";
    ctx.report({ message, location: place.child("x-unbounded").key() });
  }
  for (const [key, child] of Object.entries(node)) refuseUnboundedIn(child, ctx, seen, place.child(key));
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
