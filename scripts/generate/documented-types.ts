import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import type { Source } from "../../openapi/document/contract.ts";
import { follow, isNode, type Node } from "../../openapi/document/node.ts";

/** The bundle's types, with documentation for the caller's editor. */
export async function toDocumentedTypes(document: Node): Promise<string> {
  // Redocly bundles an OpenAPI document into an OpenAPI document.
  const documented = withSources(document) as unknown as OpenAPI3;
  return astToString(
    await openapiTS(documented, { silent: true, transform: (schema) => toOpenUnion(schema) }),
  );
}

/** A list that may grow: the values known today, which editors suggest, and any other string. */
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
 * The bundle from which the types are generated. Editors show the comment of the field under the cursor and follow no
 * references, so a field that is a `$ref` gets the description of its target; and every description ends with the sources of
 * its element.
 */
function withSources(document: Node): Node {
  function visit(value: unknown, isField = false): unknown {
    if (Array.isArray(value)) return value.map((item) => visit(item));
    if (!isNode(value)) return value;
    const described = describe(isField ? follow(document, value) : value);
    const entries = Object.entries(value).map(([key, child]) => [
      key,
      key === "properties" && isNode(child) ? visitFields(child) : visit(child),
    ]);
    return { ...Object.fromEntries(entries), ...(described && { description: described }) };
  }
  const visitFields = (fields: Node) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, visit(field, true)]));

  // The document is an object, and visiting it returns an object.
  return visit(document) as Node;
}

/** The documentation of a field; undefined when it has none. */
function describe({ description, "x-source": sources }: Node): string | undefined {
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
