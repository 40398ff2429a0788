import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { follow, isNode, members, type Node } from "../../../openapi/document/document-node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { readGenerated } from "../../../openapi/document/read-generated.ts";

const contract: Node = JSON.parse(readGenerated("openapi.json"));
const twin: Node = JSON.parse(readGenerated("openapi-3.0.json"));

// Draft 7 with `nullable` is how OpenAPI 3.0 reads a schema.
const ajv = new Ajv({ strict: false, validateFormats: true });
addFormats.default(ajv);
ajv.addSchema(twin, "twin");

type Example = { readonly name: string; readonly pointer: string; readonly value: unknown };

/** Every named example below a part of a document, with the pointer to the schema beside it. */
function examplesBelow(document: Node, part: unknown, pointer = ""): Example[] {
  if (typeof part !== "object" || part === null) return [];
  const own =
    isNode(part) && isNode(part.examples) && isNode(part.schema)
      ? members(part.examples).map(([name, example]) => ({
          name,
          pointer: `${pointer}/schema`,
          value: follow(document, example).value,
        }))
      : [];
  const below = Object.entries(part).flatMap(([name, child]) =>
    examplesBelow(document, child, pointer + step(name)),
  );
  return [...own, ...below];
}

const examples = examplesBelow(contract, contract);
const twinExamples = examplesBelow(twin, twin);
const valuesOf = (found: readonly Example[]) => found.map(({ value }) => JSON.stringify(value)).sort();

describe("the contract as OpenAPI 3.0", () => {
  test("has every example of the contract", () => {
    expect(examples.length).toBeGreaterThan(50);
    expect(valuesOf(twinExamples)).toEqual(valuesOf(examples));
  });

  test.each(twinExamples)("takes the example $name at $pointer", ({ pointer, value }) => {
    expect(ajv.validate({ $ref: `twin#${encodeURI(pointer)}` }, value)).toBe(true);
  });

  test("loses only the constructs that OpenAPI 3.0 lacks", () => {
    const keysOf = (part: unknown): string[] =>
      typeof part === "object" && part !== null
        ? Object.entries(part).flatMap(([key, value]) => [
            ...(Array.isArray(part) ? [] : [key]),
            ...keysOf(value),
          ])
        : [];
    const kept = new Set(keysOf(twin));
    const lost = new Set(keysOf(contract).filter((key) => !kept.has(key) && !key.startsWith("x-")));

    expect([...lost].toSorted()).toEqual([
      ...["ALL", "CATEGORY", "EVENT", "RefundStatus", "const", "dependentRequired", "discriminator", "else"],
      ...["identifier", "if", "mapping", "not", "propertyName", "then"],
      ...["unevaluatedProperties", "webhooks"],
    ]);
  });
});
