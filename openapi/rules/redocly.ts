/**
 * The part of Redocly's plugin interface that these rules use. The command line carries its core inside and publishes
 * no types for it, so they stand here.
 */

/** An object of the document, as parsed; each reader checks its values. */
export type DocumentNode = Record<string, unknown>;

export type Reference = DocumentNode & { $ref: string };

/** A position in a file of the document, for messages. */
export type Position = {
  source: { absoluteRef: string; body: string };
  /** `#/`-prefixed JSON Pointer inside the file. */
  pointer: string;
};

export type Location = Position & {
  child(path: string | number | (string | number)[]): Location;
  /** The same position, marked at its key instead of its value; a plain copy, without the methods. */
  key(): Position;
};

export type Resolved = { node: unknown; location: Location | undefined };

/** Follows a `$ref` to its end, and returns anything else as it is. `from` is the file that the node stands in. */
export type Resolve = (node: unknown, from?: string) => Resolved;

export type Context = {
  /** Where the visited node stands; for a `$ref` node that is the target. */
  location: Location;
  key: string | number;
  parent: unknown;
  resolve: Resolve;
  report(problem: { message: string; location?: Position }): void;
};

export type Visit = (node: DocumentNode, ctx: Context) => void;

/** Keys are Redocly's node types (nested: a type inside another), `any`, `ref`, or `enter` and `leave`. */
export type Visitor = {
  [type: string]: Visit | Visitor;
};

export type Rule<Options = unknown> = (options: Options) => Visitor;

export function isNode(value: unknown): value is DocumentNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isReference(value: unknown): value is Reference {
  return isNode(value) && typeof value.$ref === "string";
}

export function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Says whether an extension that asks for a reason has one. */
export function isReason(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** The `type` of a schema as a list, empty when it names none. */
export function typesOf(schema: DocumentNode): string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === "string") : [];
}

/** Says whether the schema lists the values that it takes. */
export function isEnumerated(schema: DocumentNode): boolean {
  return "const" in schema || Array.isArray(schema.enum);
}

/**
 * Visits every node of a schema that a request may hold, at any depth and through references; each node once. Redocly's
 * nested visitors would enter only the outermost schema below a type.
 */
export function visitRequestNodes(
  schema: unknown,
  ctx: Context,
  seen: Set<unknown>,
  visit: (node: DocumentNode, location: Location) => void,
  at = ctx.location,
): void {
  const { node, location } = ctx.resolve(schema, at.source.absoluteRef);
  if (typeof node !== "object" || node === null || seen.has(node)) return;
  seen.add(node);

  const here = node === schema ? at : (location ?? at);
  visit(node as DocumentNode, here);
  for (const [key, child] of Object.entries(node))
    visitRequestNodes(child, ctx, seen, visit, here.child(key));
}
