import { keywordsHolding } from "../document/keywords.ts";
import { type Context, type DocumentNode, isNode, isReference, type Resolve, toList } from "./redocly.ts";

const BRANCHES = keywordsHolding("branches");

type Subject = { schema: DocumentNode; file: string };

export type Conditions = {
  /** Call on entering each schema, parents first. */
  enter(schema: DocumentNode, ctx: Context): void;
  /** Says whether a schema only narrows what another one declares. */
  has(schema: unknown): boolean;
};

/**
 * Distinguishes conditions from declarations. A schema below `if`, `then`, `else`, `not` or `dependentSchemas` speaks about
 * properties that the schema around it declares; asking it for a source or for bounds again would only make copies. A
 * property that is declared nowhere else stays a declaration, so that nothing hides in a condition.
 */
export function createConditions(): Conditions {
  const subjects = new WeakMap<DocumentNode, Subject>();

  function mark(condition: unknown, subject: Subject): void {
    if (isNode(condition)) subjects.set(condition, subject);
  }

  function enter(schema: DocumentNode, ctx: Context): void {
    const declared = subjects.get(schema);
    const subject = declared ?? { schema, file: ctx.location.source.absoluteRef };
    for (const keyword of keywordsHolding("condition")) mark(schema[keyword], subject);
    for (const condition of valuesOf(schema.dependentSchemas)) mark(condition, subject);
    if (declared === undefined) return;

    for (const keyword of BRANCHES) {
      for (const branch of toList(schema[keyword])) mark(branch, declared);
    }
    for (const [name, property] of Object.entries(isNode(schema.properties) ? schema.properties : {})) {
      const target = declaredProperty(name, declared, ctx.resolve);
      if (target !== undefined) mark(property, target);
    }
    const items = follow(declared.schema.items, declared.file, ctx.resolve);
    if (items !== undefined) mark(schema.items, items);
  }

  return { enter, has: (schema) => isNode(schema) && subjects.has(schema) };
}

function declaredProperty(
  name: string,
  { schema, file }: Subject,
  resolve: Resolve,
  seen = new Set<DocumentNode>(),
): Subject | undefined {
  if (seen.has(schema)) return undefined;
  seen.add(schema);
  if (isNode(schema.properties) && Object.hasOwn(schema.properties, name)) {
    return follow(schema.properties[name], file, resolve);
  }
  for (const branch of BRANCHES.flatMap((keyword) => toList(schema[keyword]))) {
    const target = follow(branch, file, resolve);
    const found = target && declaredProperty(name, target, resolve, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

function follow(schema: unknown, file: string, resolve: Resolve): Subject | undefined {
  if (!isReference(schema)) return isNode(schema) ? { schema, file } : undefined;
  const { node, location } = resolve(schema, file);
  return isNode(node) && location ? { schema: node, file: location.source.absoluteRef } : undefined;
}

function valuesOf(map: unknown): unknown[] {
  return isNode(map) ? Object.values(map) : [];
}
