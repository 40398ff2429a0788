import { expect, test } from "vitest";
import { decimalFieldsIn } from "../../../server/contract/decimal-literals.ts";
import { toValidationDocument } from "../../../server/contract/validation-document.ts";

const documentOf = (schemas: object) => ({
  openapi: "3.1.0",
  paths: {},
  components: { schemas: { ...schemas } },
});

test("a contract with an amount in a union is refused, because nothing would check its digits", () => {
  const document = documentOf({ Sum: { "x-fraction-digits": 2 } });
  const schema = { properties: { sum: { oneOf: [{ $ref: "#/components/schemas/Sum" }] } } };

  expect(() => decimalFieldsIn(document, schema)).toThrow(/digits of numbers at \/sum below other keywords/);
});

test("a contract with a format that the validator doesn't know is refused, because it would be ignored", () => {
  const withFormat = (format: unknown) => documentOf({ Id: { type: "string", format } });

  expect(() => toValidationDocument(withFormat("iban"))).toThrow("the contract has the format iban, which ");
  expect(() => toValidationDocument(withFormat("uri"))).not.toThrow();
  expect(() => toValidationDocument(documentOf({ Field: { properties: { format: {} } } }))).not.toThrow();
});
