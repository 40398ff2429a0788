import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { isContained } from "../../../openapi/diff/containment.ts";
import { findChanges } from "../../../openapi/diff/diff.ts";
import { toDocuments } from "../../../openapi/diff/documents.ts";
import { schemaAt } from "../../../openapi/diff/read-schema.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/diff/${name}.json`, import.meta.url), "utf8"));

/** Schemas and values of the JSON Schema test suite, by its files; see README.md beside them. */
const SUITE: Record<string, [schema: unknown, values: unknown[]][]> = read("json-schema-suite");
/** The rule of oasdiff that finds a pair of documents breaking, and the pair. */
const PAIRS = read("oasdiff-pairs") as [rule: string, base: unknown, revision: unknown][];

function toSchema(written: unknown) {
  const text = JSON.stringify(written).replaceAll('"$ref":"#', '"$ref":"#/schema');
  const documents = toDocuments({ schema: JSON.parse(text) }, {});
  return schemaAt({ documents, pointer: "/schema", hidden: "readOnly" }).schema;
}

// A change from one schema to another is compatible for requests when the second contains the first, and the change back for responses.
describe("of each pair of schemas in a file of the JSON Schema test suite", () => {
  const counts = { compared: 0, harmless: 0, needless: 0 };

  test.each(Object.entries(SUITE))("%s has none that breaks somebody and is compatible", (_file, groups) => {
    const ajv = new Ajv2020({ strict: false, ownProperties: true, unicodeRegExp: true, logger: false });
    const values = groups.flatMap(([, own]) => own);
    const schemas = groups.map(([written]) => toSchema(written));
    const valid = groups.map(([schema]) => values.map((value) => ajv.validate(schema as object, value)));
    const wrong: unknown[] = [];
    for (const [one, base] of schemas.entries())
      for (const [other, revision] of schemas.entries()) {
        if (one === other) continue;
        counts.compared += 2;
        const broken = values.find((_, at) => valid[one]?.[at] === true && valid[other]?.[at] === false);
        const isCompatible = isContained(base, revision);
        if (broken !== undefined && isCompatible) wrong.push({ base, revision, broken });
        if (broken !== undefined) continue;
        counts.harmless += 1;
        counts.needless += isCompatible ? 0 : 1;
      }

    expect(wrong).toEqual([]);
  });

  test("at most 15 % of those in which no value became invalid count as breaking", () => {
    expect(counts.compared).toBe(8276);
    expect(counts.needless / counts.harmless).toBeLessThan(0.15);
  });
});

describe("a pair that oasdiff's own tests call breaking", () => {
  test.each(PAIRS)("is major: %s", (_rule, base, revision) => {
    expect(findChanges(base, revision)[0]?.level).toBe("major");
  });
});
