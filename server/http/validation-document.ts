import { type ContractDocument, resolveSchema, type Schema } from "./contract.ts";

/**
 * The validator's private copy of the contract.
 *
 * A failing `oneOf` reports the faults of every branch and does not say which branch a fault comes from. Where the
 * branches are told apart by a `const` tag, the same constraint is written as an `enum` on the tag and one `if`/`then`
 * for each branch, so that only the chosen branch is checked and each fault is reported once (D07).
 */
export function toValidationDocument(document: ContractDocument): ContractDocument {
  const copy = structuredClone(document);
  rewriteUnions(copy, copy);
  return copy;
}

function rewriteUnions(node: unknown, document: ContractDocument): void {
  if (typeof node !== "object" || node === null) return;
  const schema = node as Schema & Record<string, unknown>;
  if (Array.isArray(schema.oneOf) && schema.discriminator) rewriteUnion(schema, document);
  for (const child of Object.values(node)) rewriteUnions(child, document);
}

function rewriteUnion(schema: Schema & Record<string, unknown>, document: ContractDocument): void {
  const { oneOf = [], discriminator } = schema;
  const tag = discriminator?.propertyName ?? "";
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
