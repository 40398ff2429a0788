import { type ContractDocument, type ContractOperation, resolveSchema, type Schema } from "./contract.ts";
import type { Violation } from "./problem.ts";
import { toPointer } from "./raw-json.ts";

/** How each number of a parsed body was written, by the object that holds it. */
const literals = new WeakMap<object, Map<string, string>>();

/**
 * A reviver for `JSON.parse` that remembers how numbers were written: 10.990000000000000001 parses as 10.99 (D13). It costs
 * more than the parsing itself, so it is for texts in which a number is not written plainly.
 */
export function rememberLiteral(
  this: unknown,
  key: string,
  value: unknown,
  context?: { source?: string },
): unknown {
  if (
    typeof value === "number" &&
    context?.source !== undefined &&
    typeof this === "object" &&
    this !== null
  ) {
    const known = literals.get(this) ?? new Map<string, string>();
    literals.set(this, known.set(key, context.source));
  }
  return value;
}

/** A place in a request body that holds money, and how many digits may follow the point. */
interface DecimalPlace {
  path: string[];
  digits: number;
}

/** Finds the fields with `x-fraction-digits` in the request body of an operation. */
export function decimalPlaces(document: ContractDocument, operation: ContractOperation): DecimalPlace[] {
  const body = operation.requestBody?.content["application/json"]?.schema;
  return body ? collect(document, body, []) : [];
}

function collect(document: ContractDocument, reference: Schema, path: string[]): DecimalPlace[] {
  const schema = resolveSchema(document, reference);
  const digits = schema["x-fraction-digits"];
  if (digits !== undefined) return [{ path, digits }];
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    collect(document, child, [...path, name]),
  );
}

/** One violation for each amount that is not written as plain digits with at most so many after the point. */
export function checkLiterals(places: readonly DecimalPlace[], body: unknown): Violation[] {
  return places.flatMap(({ path, digits }) => {
    const holder = path.slice(0, -1).reduce<unknown>(member, body);
    const literal =
      typeof holder === "object" && holder ? literals.get(holder)?.get(path.at(-1) ?? "") : undefined;
    if (literal === undefined || new RegExp(`^\\d+(\\.\\d{1,${digits}})?$`).test(literal)) return [];
    return [
      {
        pointer: toPointer(path),
        message: "must be written with digits and at most two decimals, such as 19.99",
      },
    ];
  });
}

function member(holder: unknown, name: string): unknown {
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name)) return undefined;
  return (holder as Record<string, unknown>)[name];
}
