import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { KEYWORDS } from "../../../openapi/document/known-keywords.ts";
import { createCompiler } from "../../../openapi/document/schema-validators.ts";

/** Each keyword with a value, the schema around it and a valid value. */
const CASES: readonly (readonly [keyword: string, value: unknown, schema: object, current: unknown])[] = [
  ["type", "string", {}, "x"],
  ["enum", ["USD", "CAD"], {}, "USD"],
  ["const", "USD", {}, "USD"],
  ["minLength", 2, {}, "abc"],
  ["maxLength", 3, {}, "abc"],
  ["pattern", "^[a-z]*$", {}, "abc"],
  ["format", "date-time", {}, "2026-11-20T14:30:00Z"],
  ["minimum", 1, {}, 1],
  ["maximum", 9, {}, 1],
  ["exclusiveMinimum", 0, {}, 1],
  ["exclusiveMaximum", 9, {}, 1],
  ["minItems", 2, {}, [1, 2]],
  ["maxItems", 2, {}, [1, 2]],
  ["uniqueItems", true, {}, [1, 2]],
  ["required", "a", { required: ["a"] }, { a: 1 }],
  ["additionalProperties", false, { properties: { a: {} } }, { a: 1 }],
  ["minProperties", 1, {}, { a: 1 }],
];

describe("the table of keywords", () => {
  const compile = createCompiler({});
  const valuesOf = (
    kind: "obeying" | "breaking",
    [keyword, value, schema, current]: (typeof CASES)[number],
  ) =>
    (KEYWORDS[keyword]?.[kind]?.({ value, schema: { ...schema }, current, others: [] }) ?? []).map((json) =>
      JSON.parse(json),
    );

  test.each(CASES)("has values that break %s, and values that obey it", (keyword, value, schema, current) => {
    const isValid = compile({ [keyword]: value, ...schema });
    const one = [keyword, value, schema, current] as const;

    // Of the values near a pattern, a list or a format, some are valid: callers keep those that they need.
    expect(valuesOf("breaking", one).filter((broken) => !isValid(broken))).not.toEqual([]);
    const obeying = valuesOf("obeying", one).filter((kept) => isValid(kept));
    expect(obeying.length > 0 || !KEYWORDS[keyword]?.obeying).toBe(true);
    expect(isValid(current)).toBe(true);
  });

  test.each(["minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "minItems", "maxItems"])(
    "has no other values of %s than those at its bound and just beyond",
    (keyword) => {
      const one = CASES.find(([name]) => name === keyword) ?? CASES[0];
      if (!one) throw new Error("there are no cases");
      const isValid = compile({ [keyword]: one[1], ...one[2] });

      expect(valuesOf("obeying", one).filter((kept) => !isValid(kept))).toEqual([]);
      expect(valuesOf("breaking", one).filter((broken) => isValid(broken))).toEqual([]);
    },
  );

  /** A new extension is an entry of the table and a row here. */
  test("knows which amounts obey and break x-fraction-digits", () => {
    const { limits, obeying, breaking, mistaken } = KEYWORDS["x-fraction-digits"] ?? {};
    const occurrence = { value: 2, schema: { "x-fraction-digits": 2 }, current: 1, others: [] };

    expect(limits).toBe("number");
    expect(obeying?.(occurrence)).toEqual(["1", "1.0", "1.00", "1E+0", "0.1e1", "100e-2"]);
    expect(breaking?.(occurrence)).toContain("1.000");
    expect(mistaken?.(2, occurrence.schema)).toEqual([1, 3]);
  });

  test("has an entry for every extension of schemas that is documented, and for no other", () => {
    const documented = readFileSync("openapi/extensions.md", "utf8").match(/(?<=^## )x-[\w-]+/gm) ?? [];
    const known = Object.keys(KEYWORDS).filter((keyword) => keyword.startsWith("x-"));

    expect(known.toSorted()).toEqual([...documented].toSorted());
  });
});
