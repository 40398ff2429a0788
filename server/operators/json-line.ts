import { isUtf8 } from "node:buffer";
import type { ErrorObject } from "ajv/dist/2020.js";
import { stepsOf, toPointer } from "../../openapi/document/pointer.ts";
import { createCompiler } from "../contract/compile-schema.ts";
import { checkLiterals, decimalFieldsIn } from "../contract/decimal-literals.ts";
import type { ContractDocument } from "../contract/document.ts";
import { type NumberLiteral, scanJson } from "../contract/scan-json.ts";
import { toValidationDocument } from "../contract/validation-document.ts";
import { findSurrogates } from "../contract/violations.ts";

/** Why a line is refused. The reason may repeat names of fields, but nothing else from the line. */
export type LineError = { readonly error: string };

/**
 * Validates lines of JSON by a schema, and as strictly as the body of a request: the same limits (D15) and amounts (D13).
 *
 * @param schema its name
 * @param options.withAmount the name of the schema whose fields may hold money
 * @returns a function that reads the bytes of a line
 */
export function createLineParser<Value>(
  document: ContractDocument,
  schema: string,
  { withAmount = schema }: { withAmount?: string } = {},
): (bytes: Buffer) => { readonly value: Value } | LineError {
  const compile = createCompiler(toValidationDocument(document), { verbose: true });
  const validate = compile(["components", "schemas", schema]);
  const decimals = decimalFieldsIn(document, { $ref: `#/components/schemas/${withAmount}` });
  return (bytes) => {
    const parsed = parseObject(bytes);
    if ("error" in parsed) return parsed;
    const { value, literals } = parsed;
    const ofSchema = validate(value) ? [] : (validate.errors ?? []);
    const errors = toMessages(ofSchema);
    // Nothing inside an unknown field is reported, because its name may be anything.
    const surrogates = findSurrogates(value, new Set(ofSchema.map(pointerOf)));
    for (const { pointer, message } of [...checkLiterals(decimals, literals), ...surrogates]) {
      const field = toField(pointer);
      if (!errors.has(field)) errors.set(field, message);
    }
    const error = [...errors].map(([field, message]) => `${field} ${message}`.trim()).join("; ");
    return error === "" ? { value: value as Value } : { error };
  };
}

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

const MAX_NAMES = 5;
const MAX_NAME_LENGTH = 40;

/** One message for each field with an error. The unknown members of an object are named in one message of that object. */
function toMessages(errors: readonly ErrorObject[]): Map<string, string> {
  const messages = new Map<string, string>();
  const unknown = new Map<string, string[]>();
  for (const error of errors) {
    const { keyword, instancePath, params } = error;
    if (keyword === "if") continue; // reported beside the errors of its branch
    if (keyword === "additionalProperties") {
      unknown.set(instancePath, [...(unknown.get(instancePath) ?? []), params.additionalProperty]);
      continue;
    }
    const field = toField(pointerOf(error));
    if (!messages.has(field)) messages.set(field, toMessage(error));
  }
  for (const [pointer, names] of unknown) {
    const quoted = names.slice(0, MAX_NAMES).map((name) => JSON.stringify(name.slice(0, MAX_NAME_LENGTH)));
    messages.set(toField(pointer), `has fields that are not known: ${quoted.join(", ")}`);
  }
  return messages;
}

/** The member that an error is about. */
function pointerOf({ keyword, instancePath, params }: ErrorObject): string {
  if (keyword === "required") return instancePath + toPointer([params.missingProperty]);
  if (keyword === "additionalProperties") return instancePath + toPointer([params.additionalProperty]);
  return instancePath;
}

/** `amount.value` for the pointer `/amount/value`. */
function toField(pointer: string): string {
  return stepsOf(pointer).join(".");
}

function toMessage({ keyword, params, parentSchema, message = "is not valid" }: ErrorObject): string {
  switch (keyword) {
    case "required":
      return "is missing";
    case "enum":
      return `must be one of: ${params.allowedValues.join(", ")}`;
    case "type":
      return `must be ${/^[aeio]/.test(params.type) ? "an" : "a"} ${params.type}`;
    case "minLength":
    case "maxLength":
      return `must have ${parentSchema?.minLength} to ${parentSchema?.maxLength} characters`;
    case "pattern":
    case "format": // a time that its pattern allows, such as the 30th of February
      return parentSchema?.["x-pattern-message"] ?? message;
    default:
      return message;
  }
}
