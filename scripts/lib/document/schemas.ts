import { Ajv2020, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Node } from "./node.ts";

/** Compiles the schema at a pointer of a document, or one that is given. */
export type CompileSchema = (schema: string | object) => ValidateFunction;

/**
 * Compiles schemas of a document with Ajv, independently of the server. Extensions (`x-…`) are annotations; `options.keywords`
 * makes some of them assertions. Not in strict mode: mutated documents may hold what it refuses, such as an `if` alone.
 */
export function createCompiler(document: Node, options: Options = {}): CompileSchema {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ...options });
  addFormats.default(ajv);
  ajv.addSchema(document, "contract");
  const compiled = new Map<string, ValidateFunction>();
  return (schema) => {
    if (typeof schema !== "string") return ajv.compile(schema);
    const validate = compiled.get(schema) ?? ajv.compile({ $ref: `contract#${schema}` });
    compiled.set(schema, validate);
    return validate;
  };
}

const AJV = new Ajv2020();

/** Says what the schema at a pointer finds wrong with a value: one sentence, or nothing. */
export type FindViolations = (pointer: string, value: unknown) => string[];

export function createFindViolations(document: Node): FindViolations {
  const compile = createCompiler(document);
  return (pointer, value) => {
    const validate = compile(pointer);
    return validate(value) ? [] : [AJV.errorsText(validate.errors)];
  };
}
