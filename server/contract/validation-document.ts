import formats from "ajv-formats/dist/formats.js";
import {
  type ContractDocument,
  type DocumentNode,
  resolveSchema,
  type Schema,
  servedOperations,
  visitNodes,
} from "./contract-document.ts";

/**
 * Makes the request validator's private copy of a document, which the validator also changes.
 *
 * A failing `oneOf` reports the errors of every branch and does not say which branch an error comes from. Where a `const`
 * tag identifies the branch, the same constraint is written as an `enum` on the tag and one `if`/`then` for each
 * branch, so that only the chosen branch is validated and each error is reported once (D07).
 *
 * Throws where a schema has a format that the validator does not know, because it would ignore it.
 */
export function toValidationDocument(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document);
  keepRequests(copy);
  visitNodes(copy, (node) => {
    requireKnownFormat(node);
    rewriteTaggedUnion(node, copy);
    acceptReservedCharacters(node);
  });
  return copy;
}

/** Removes what doesn't concern requests, because the validator walks through the whole document for each operation. */
function keepRequests(document: ContractDocument): void {
  const { parameters, requestBodies, schemas } = document.components;
  document.components = {
    ...(parameters && { parameters }),
    ...(requestBodies && { requestBodies }),
    schemas,
  };
  Object.assign(document, { webhooks: {} });
  for (const { operation } of servedOperations(document)) operation.responses = {};
  visitNodes(document, (node) => {
    // Beside a schema, these are the examples of a parameter or a body; elsewhere, a property may have this name.
    if ("schema" in node) Object.assign(node, { examples: undefined });
  });
}

function requireKnownFormat({ type, format }: DocumentNode): void {
  if (type === undefined || typeof format !== "string" || Object.hasOwn(formats.fullFormats, format)) return;
  throw new Error(`the contract has the format ${format}, which the request validator would ignore`);
}

function rewriteTaggedUnion(node: DocumentNode, document: ContractDocument): void {
  const schema = node as Schema & Record<string, unknown>;
  const { oneOf, discriminator } = schema;
  if (!Array.isArray(oneOf) || !discriminator) return;
  const tag = discriminator.propertyName;
  const tagOf = (branch: Schema) => resolveSchema(document, branch).properties?.[tag]?.const;

  schema.type = "object";
  schema.required = [tag];
  schema.properties = { [tag]: { enum: oneOf.map(tagOf) } as Schema };
  schema.allOf = oneOf.map((branch) => ({
    if: { required: [tag], properties: { [tag]: { const: tagOf(branch) } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: branch,
  }));
  delete schema.oneOf;
  delete schema.discriminator;
}

/** Without `allowReserved` the validator refuses a query with a character such as ":", which a URL may hold there. */
function acceptReservedCharacters(node: DocumentNode): void {
  if (node.in === "query") Object.assign(node, { allowReserved: true });
}
