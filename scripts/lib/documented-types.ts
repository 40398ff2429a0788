import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";

/** An object of the bundle, as parsed. */
type DocumentNode = Record<string, unknown>;

type Source = { kind: "specified"; clause: string } | { kind: "decided"; decision: string };

/** The bundle's types, with what a caller's editor can show of it. */
export async function toDocumentedTypes(document: DocumentNode): Promise<string> {
  // What Redocly bundled from an OpenAPI document is one.
  const documented = withSources(document) as unknown as OpenAPI3;
  return astToString(
    await openapiTS(documented, { silent: true, transform: (schema) => toOpenUnion(schema) }),
  );
}

/** A list that may grow: the values known today, which editors offer, and any other text. */
function toOpenUnion(schema: object): ts.TypeNode | undefined {
  if (!("x-extensible-enum" in schema) || !Array.isArray(schema["x-extensible-enum"])) return undefined;
  const { factory } = ts;
  const known = schema["x-extensible-enum"].map((value) =>
    factory.createLiteralTypeNode(factory.createStringLiteral(String(value))),
  );
  // An intersection, because `string` alone would swallow the others.
  const text = factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword);
  const other = factory.createIntersectionTypeNode([text, factory.createTypeLiteralNode([])]);
  return factory.createUnionTypeNode([...known, factory.createParenthesizedType(other)]);
}

/**
 * The bundle as types are made from it. Editors show the comment of the field under the cursor and follow no reference, so
 * a field that is a `$ref` gets the words of its target; and every description ends with where its element comes from.
 */
function withSources(document: DocumentNode): DocumentNode {
  const targetOf = (node: DocumentNode) =>
    typeof node.$ref === "string" ? (findTarget(document, node.$ref) ?? node) : node;

  function visit(value: unknown, isField = false): unknown {
    if (Array.isArray(value)) return value.map((item) => visit(item));
    if (!isNode(value)) return value;
    const described = describe(isField ? targetOf(value) : value);
    const entries = Object.entries(value).map(([key, child]) => [
      key,
      key === "properties" && isNode(child) ? visitFields(child) : visit(child),
    ]);
    return { ...Object.fromEntries(entries), ...(described && { description: described }) };
  }
  const visitFields = (fields: DocumentNode) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, visit(field, true)]));

  // The document is an object, and a visited object stays one.
  return visit(document) as DocumentNode;
}

/** What a reader of the field is told; undefined when there is nothing to tell. */
function describe({ description, "x-source": sources }: DocumentNode): string | undefined {
  const text = typeof description === "string" ? description.trimEnd() : "";
  const origin = Array.isArray(sources) ? describeSources(sources) : "";
  return [text, origin].filter((part) => part !== "").join("\n\n") || undefined;
}

function describeSources(sources: readonly Source[]): string {
  const clauses = sources.flatMap((source) => (source.kind === "specified" ? [source.clause] : []));
  const decisions = sources.flatMap((source) => (source.kind === "decided" ? [source.decision] : []));
  const specified =
    clauses.length > 0 && `Specified by clause${clauses.length > 1 ? "s" : ""} ${clauses.join(", ")}.`;
  const decided = decisions.length > 0 && `Decided: ${decisions.join(", ")}.`;
  return [specified, decided].filter((part) => part !== false).join(" ");
}

function findTarget(document: DocumentNode, reference: string): DocumentNode | undefined {
  const target = reference
    .split("/")
    .slice(1)
    .reduce<unknown>((node, key) => (isNode(node) ? node[key] : undefined), document);
  return isNode(target) ? target : undefined;
}

function isNode(value: unknown): value is DocumentNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
