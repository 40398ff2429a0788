import type { Conditions } from "./conditions.ts";
import { type Context, type DocumentNode, isNode, isReference } from "./redocly.ts";
import type { Fault } from "./source-list.ts";

/** What to do about a missing source, for the end of a message. */
export const addSource =
  "add `x-source` with the clauses of the interface or the decisions that it comes from";

/** The properties without a source of a schema that has been entered; one that is a `$ref` has it in the target. */
export function faultsOfProperties(schema: DocumentNode, ctx: Context, conditions: Conditions): Fault[] {
  return ["properties", "patternProperties"].flatMap((keyword) => {
    const properties = schema[keyword];
    if (!isNode(properties)) return [];
    return Object.entries(properties).flatMap(([name, property]) => {
      if (conditions.has(property)) return [];
      const fault = isReference(property)
        ? faultOfTarget(name, property, ctx)
        : faultOfProperty(name, property, ctx, keyword);
      return fault ?? [];
    });
  });
}

function faultOfProperty(name: string, property: unknown, ctx: Context, keyword: string): Fault | undefined {
  if (isNode(property) && "x-source" in property) return undefined;
  const location = ctx.location.child([keyword, name]).key();
  return { message: `Property \`${name}\` has no source: ${addSource}.`, location };
}

function faultOfTarget(name: string, reference: unknown, ctx: Context): Fault | undefined {
  const { node, location } = ctx.resolve(reference);
  // A reference that leads nowhere is another rule's to report.
  if (location === undefined || (isNode(node) && "x-source" in node)) return undefined;
  return { message: `The schema of property \`${name}\` has no source: ${addSource}.`, location };
}
