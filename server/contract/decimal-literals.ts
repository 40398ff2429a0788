import { toPointer } from "../../openapi/document/pointer.ts";
import {
  type ContractDocument,
  type ContractOperation,
  resolveSchema,
  type Schema,
} from "./contract-document.ts";
import type { Violation } from "./problem.ts";
import type { NumberLiteral } from "./scan-json.ts";

/**
 * One violation for each amount that has more digits after the point than allowed when its literal is written plainly, with
 * the exponent applied and every digit kept: `1E+1` is 10, and `1.0000E1` is 10.000 (D13). A double that is printed with 17
 * digits counts as the amount that it stands for. A schema can't say so, because it sees the parsed number:
 * 10.990000000000000001 parses as 10.99.
 */
export function checkLiterals(
  fields: readonly DecimalField[],
  literals: readonly NumberLiteral[],
): Violation[] {
  return fields.flatMap(({ path, digits }) => {
    const written = literals.find((literal) => isSamePath(literal.path, path))?.text;
    if (written === undefined || fractionDigits(written) <= digits || isPrintedDouble(written, digits))
      return [];
    const count = fractionDigits(written);
    const isRound = fractionDigits(written.replace(/(\.\d*?)0+$/, "$1")) <= digits;
    const message = isRound
      ? "must have at most two decimals: send 10.00 or 10, not 10.000"
      : `must have at most two decimals, and has ${count === 3 ? "three" : count}`;
    return [{ pointer: toPointer(path), message }];
  });
}

/** A field of a request body that holds money. */
export type DecimalField = {
  /** The names that lead to it, such as `["amount", "value"]`. */
  path: readonly string[];
  digits: number;
};

/** Finds the fields with `x-fraction-digits` in the request body of an operation. */
export function decimalFields(document: ContractDocument, operation: ContractOperation): DecimalField[] {
  const body = operation.requestBody?.content["application/json"]?.schema;
  return body ? decimalFieldsIn(document, body) : [];
}

/**
 * Finds the fields with `x-fraction-digits` in a schema of the document, which may be a reference. Throws when there are any
 * below another keyword than `properties`, where nothing would check their digits.
 */
export function decimalFieldsIn(
  document: ContractDocument,
  reference: Schema,
  path: readonly string[] = [],
): DecimalField[] {
  const { properties = {}, "x-fraction-digits": digits, ...others } = resolveSchema(document, reference);
  if (digits !== undefined) return [{ path, digits }];
  if (hasDigits(document, others))
    throw new Error(
      `the contract limits the digits of numbers at ${toPointer(path)} below other keywords than properties`,
    );
  return Object.entries(properties).flatMap(([name, child]) =>
    decimalFieldsIn(document, child, [...path, name]),
  );
}

function hasDigits(document: ContractDocument, part: object): boolean {
  const schema = resolveSchema(document, part);
  return Object.entries(schema).some(
    ([name, inner]) =>
      name === "x-fraction-digits" ||
      (typeof inner === "object" && inner !== null && hasDigits(document, inner)),
  );
}

/** How many digits follow the point of a JSON number when it is written plainly. */
function fractionDigits(literal: string): number {
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e");
  const [, fraction = ""] = mantissa.split(".");
  return Math.max(0, fraction.length - Number(exponent));
}

/**
 * Whether a literal is the text that `%.17g` makes of a double, as C++ and some settings of PHP print every number, and that
 * double is the nearest to an amount with so few digits: 131072.01 is printed as 131072.01000000001. Any other literal with
 * more digits could stand for more than one amount.
 */
function isPrintedDouble(literal: string, digits: number): boolean {
  const value = Number(literal);
  return fractionDigits(String(value)) <= digits && literal === value.toPrecision(17).replace(/0+$/, "");
}

function isSamePath(left: NumberLiteral["path"], right: DecimalField["path"]): boolean {
  return left.length === right.length && left.every((key, index) => key === right[index]);
}
