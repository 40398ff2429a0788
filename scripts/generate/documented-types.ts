/** Writes TypeScript types from the contract, with its descriptions as comments. */
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { follow, isNode, type Node } from "../../openapi/document/document-node.ts";

/** The bundle's types, with documentation for the caller's editor. */
export async function toDocumentedTypes(document: Node): Promise<string> {
  // Redocly bundles an OpenAPI document into an OpenAPI document.
  const documented = withDescriptions(document) as unknown as OpenAPI3;
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
  const isNullable = "type" in schema && [schema.type].flat().includes("null");
  return factory.createUnionTypeNode([
    ...known,
    factory.createParenthesizedType(other),
    ...(isNullable ? [factory.createLiteralTypeNode(factory.createNull())] : []),
  ]);
}

/**
 * The bundle from which the types are generated. Editors show the comment of the field under the cursor and follow no
 * references, so a field that is a `$ref` gets the description of its target.
 */
function withDescriptions(document: Node): Node {
  function visit(value: unknown, isField = false): unknown {
    if (Array.isArray(value)) return value.map((item) => visit(item));
    if (!isNode(value)) return value;
    const { description } = isField ? follow(document, value) : value;
    const entries = Object.entries(value).map(([key, child]) => [
      key,
      key === "properties" && isNode(child) ? visitFields(child) : visit(child),
    ]);
    return { ...Object.fromEntries(entries), ...(description !== undefined && { description }) };
  }
  const visitFields = (fields: Node) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, visit(field, true)]));

  // The document is an object, and visiting it returns an object.
  return visit(document) as Node;
}
