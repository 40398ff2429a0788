import { expect, test } from "vitest";
import { readForm } from "../../../scripts/console/console-forms.ts";

/** What the console knows of the only field of a form. */
function readField(schema: object, form: object = {}) {
  const Form = { type: "object", required: ["a/b"], properties: { "a/b": schema }, ...form };
  return readForm({ components: { schemas: { Form } } }, "/components/schemas/Form")["/a~1b"];
}

test.each<[schema: object, hint: string | undefined]>([
  [{ type: "string", minLength: 1, maxLength: 80 }, "at most 80 characters"],
  [{ type: "string", minLength: 12, maxLength: 80 }, "at least 12 characters, at most 80 characters"],
  [{ type: "string", pattern: "^[a-z]*$", "x-pattern-message": "must be small" }, "must be small"],
  [{ type: "string", pattern: "^[^\\x00]*$", "x-pattern-message": "must not contain U+0000" }, undefined],
  [{ type: "string", format: "duration" }, "such as PT30M"],
  [{ type: "string", enum: ["USD"] }, undefined],
  [{ type: "integer", format: "int32", minimum: 1, maximum: 86_400 }, "1 to 86,400"],
  [{ type: "integer", minimum: 1 }, "at least 1"],
  [{ type: "number", maximum: 1000, "x-fraction-digits": 2 }, "at most 1,000, at most 2 decimals"],
  [{ type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, "more than 0, less than 1"],
])("a field of the console with %j has the hint %j", (schema, hint) => {
  expect(readField(schema)).toMatchObject({ required: true, hint });
});

test.each([
  ["x-unheard-of", { type: "string", "x-unheard-of": 1 }, {}],
  ["if", { type: "string" }, { if: { required: ["a/b"] } }],
])("the console is not built with a form that has %s, which it would not show", (keyword, schema, form) => {
  expect(() => readField(schema, form)).toThrow(keyword);
});
