/** The types of Redocly's plugin interface that these rules use; its command line publishes none. */

/** An object of the document, as parsed; each reader checks its values. */
export type DocumentNode = Record<string, unknown>;

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

export type Context = {
  /** Where the visited node stands; for a `$ref` node that is the target. */
  location: Location;
  /** Follows a `$ref` to its end, and returns anything else as it is. */
  resolve(node: unknown): { node: unknown; location: Location | undefined };
  report(problem: { message: string; location?: Position }): void;
};

export type Visit = (node: DocumentNode, ctx: Context) => void;

/** Keys are Redocly's node types (nested: a type inside another), `any`, `ref`, or `enter` and `leave`. */
export type Visitor = { [type: string]: Visit | Visitor };

export type Rule<Options = unknown> = (options: Options) => Visitor;

export function isNode(value: unknown): value is DocumentNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The `type` of a schema as a list, empty when it names none. */
export function typesOf(schema: DocumentNode): unknown[] {
  return [schema.type ?? []].flat();
}

const CONDITION = /\/(if|then|else|not|dependentSchemas)(\/|$)/;

/** Whether a schema stands in a condition, and so only narrows what the schema around it declares. */
export function isCondition({ location }: Context): boolean {
  return CONDITION.test(location.pointer);
}
