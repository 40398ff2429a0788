import { describe, expect, test } from "vitest";
import { findConstraints } from "../../../openapi/document/constraints.ts";
import { readContract } from "../../../openapi/document/read-contract.ts";
import { breakingRequests } from "../../conformance/constraints/requests.ts";

/** A document of one operation that takes the given schema. */
function documentOf(schema: object, operation: object = {}) {
  const content = { "application/json": { schema, examples: { only: { value: { a: "x" } } } } };
  return {
    paths: {
      "/things": { post: { operationId: "add", requestBody: { content }, responses: {}, ...operation } },
    },
  };
}

const closed = {
  type: "object",
  additionalProperties: false,
  required: ["a"],
  properties: { a: { type: "string" } },
};

describe("the constraints of a document", () => {
  test("are found wherever they are used, through references and branches", () => {
    const word = { type: "string", minLength: 1 };
    const branch = (tag: string, more: object) => {
      return { type: "object", required: ["tag"], properties: { tag: { const: tag }, ...more } };
    };
    const schema = {
      discriminator: { propertyName: "tag" },
      oneOf: [branch("one", { list: { items: { $ref: "#/components/schemas/Word" } } }), branch("two", {})],
    };
    const document = { ...documentOf(schema), components: { schemas: { Word: word } } };

    const found = findConstraints(document).map(({ id, pointer }) => [id, pointer]);

    const root = "/paths/~1things/post/requestBody/content";
    const here = `${root}/application~1json/schema`;
    expect(found).toEqual([
      ["add request content", root],
      ["add request application/json / oneOf", `${here}/oneOf`],
      ["add request application/json / type when tag is one", `${here}/oneOf/0/type`],
      ["add request application/json /tag required when tag is one", `${here}/oneOf/0/required/0`],
      ["add request application/json /tag const when tag is one", `${here}/oneOf/0/properties/tag/const`],
      ["add request application/json /list/* type when tag is one", "/components/schemas/Word/type"],
      [
        "add request application/json /list/* minLength when tag is one",
        "/components/schemas/Word/minLength",
      ],
      ["add request application/json / type when tag is two", `${here}/oneOf/1/type`],
      ["add request application/json /tag required when tag is two", `${here}/oneOf/1/required/0`],
      ["add request application/json /tag const when tag is two", `${here}/oneOf/1/properties/tag/const`],
    ]);
  });

  test.each([
    ["a keyword", documentOf({ ...closed, propertyNames: { maxLength: 9 } }), "propertyNames"],
    ["an extension", documentOf({ ...closed, "x-checksum": true }), "x-checksum"],
    [
      "a schema for unknown members",
      documentOf({ ...closed, additionalProperties: {} }),
      "additionalProperties",
    ],
    ["a oneOf without tags", documentOf({ oneOf: [closed] }), "without a discriminator"],
    ["a part of an operation", documentOf(closed, { callbacks: {} }), "callbacks"],
  ])("are not all known when a document has %s that there is no rule for", (_name, document, named) => {
    expect(() => findConstraints(document)).toThrow(named);
  });

  test.each(["openapi", "sandbox"] as const)("of %s have each a name of its own", (name) => {
    const ids = findConstraints(readContract(name).document).map(({ id }) => id);

    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("the requests that break constraints", () => {
  const options = { requestKeyPrefix: "any-" };

  test("leave no constraint of the contract's requests out", () => {
    const { document } = readContract("openapi");
    const constraints = findConstraints(document);

    const broken = new Set(
      breakingRequests(document, constraints, options).map(({ constraint }) => constraint),
    );

    // Malformed headers are ignored (D33), and longer ones than allowed fit no head. A path always has its parameters, as text.
    const unbreakable = /^\w+ request (header|path \w+ (required|type|minLength)$)/;
    const untried = constraints.filter((one) => one.side === "request" && !broken.has(one));
    expect(untried.map(({ id }) => id).filter((id) => !unbreakable.test(id))).toEqual([]);
  });

  test("can't be made for a constraint that allows everything, and an error says so", () => {
    const document = documentOf(
      { ...closed, properties: { a: { type: "string", minLength: 0 } } },
      { responses: { 400: { content: {} }, 415: { content: {} } } },
    );

    expect(() => breakingRequests(document, findConstraints(document), options)).toThrow("/a minLength");
  });
});
