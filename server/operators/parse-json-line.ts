import { isUtf8 } from "node:buffer";
import type { ErrorObject } from "ajv/dist/2020.js";
import { stepsOf } from "../../openapi/document/pointer.ts";
import { createCompiler } from "../contract/compile-schema.ts";
import { checkLiterals, decimalFieldsIn } from "../contract/decimal-literals.ts";
import { type NumberLiteral, scanJson } from "../contract/scan-json.ts";
import { toValidationDocument } from "../contract/validation-document.ts";
import { findSurrogates, readPatternMessages, toViolations } from "../contract/violations.ts";
import { type LINE_SCHEMAS, readLineSchemas } from "./line-schemas.ts";

/**
 * Validates lines of JSON by a schema, and as strictly as the body of a request: the same limits (D15) and amounts (D13).
 * @param schema its name
 * @param withAmount the name of the schema whose fields may hold money
 * @returns a function that reads the bytes of a line
 */
export function createLineParser<Line>(
  schema: keyof typeof LINE_SCHEMAS,
  withAmount: keyof typeof LINE_SCHEMAS = schema,
): (bytes: Buffer) => Line | LineError {
  const document = readLineSchemas();
  const compile = createCompiler(toValidationDocument(document));
  const validate = compile(["components", "schemas", schema]);
  const patterns = readPatternMessages(document);
  const decimals = decimalFieldsIn(document, { $ref: `#/components/schemas/${withAmount}` });
  return (bytes) => {
    const parsed = parseObject(bytes);
    if ("error" in parsed) return parsed;
    const { value, literals } = parsed;
    const ofSchema = validate(value) ? [] : (validate.errors ?? []);
    const violations = toViolations(ofSchema.map(toValidatorError), value, patterns);
    const known = new Set(violations.map(({ pointer }) => pointer));
    const more = [...checkLiterals(decimals, literals), ...findSurrogates(value, known)];
    const all = [...violations, ...more.filter(({ pointer }) => !known.has(pointer))];
    // `amount.value` for the pointer `/amount/value`.
    const error = all
      .map(({ pointer, message }) => `${stepsOf(pointer).join(".")} ${message}`.trim())
      .join("; ");
    return error === "" ? (value as Line) : { error: error.slice(0, MAX_ERROR_LENGTH) };
  };
}

/** Why a line is refused. The reason may repeat names of fields, but nothing else from the line. */
export type LineError = { readonly error: string };

function parseObject(
  bytes: Buffer,
): { readonly value: object; readonly literals: readonly NumberLiteral[] } | LineError {
  if (!isUtf8(bytes)) return { error: "is not UTF-8" };
  const text = bytes.toString("utf8");
  if (text.startsWith("\uFEFF")) return { error: "begins with a byte order mark" };
  const { error, literals } = scanJson(text);
  if (error) return { error: error.pointer === "" ? error.message : "a field occurs twice" };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { value, literals };
  } catch {
    return { error: "is not valid JSON" };
  }
  return { error: "is not a JSON object" };
}

/** A line may have a hundred fields that are not known. */
const MAX_ERROR_LENGTH = 500;

/** An error in the form of the request validator's. */
function toValidatorError({ keyword, instancePath, params, message = "is not valid" }: ErrorObject) {
  const name: string | undefined = params.missingProperty ?? params.additionalProperty;
  let path = name === undefined ? instancePath : `${instancePath}/${name}`;
  if (name === "") path = ""; // as the request validator reports a member without a name
  const text = keyword === "enum" ? `${message}: ${params.allowedValues.join(", ")}` : message;
  return { path, message: text, errorCode: keyword };
}
