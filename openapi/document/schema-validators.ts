import { Ajv2020, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Node } from "./document-node.ts";

/**
 * Compiles schemas of a document with Ajv, independently of the server. Extensions (`x-…`) are annotations; `options.keywords`
 * makes some of them assertions. Not in strict mode, which refuses some mutated documents, such as those with a lone `if`.
 */
export function createCompiler(document: Node, options: Options = {}): CompileSchema {
  // Unoptimized, because most schemas validate only a few values: optimizing takes longer than it saves.
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    code: { optimize: false },
    inlineRefs: false,
    ...options,
  });
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

/** Compiles the schema at a pointer of a document, or one that is given. */
export type CompileSchema = (schema: string | object) => ValidateFunction;

const AJV = new Ajv2020();

/** Describes how a value violates the schema at a pointer: one sentence, or an empty string. */
export type FindViolations = (pointer: string, value: unknown) => string[];

/** One for each document, because each compiles the schema of schemas and all that documents share. */
const created = new WeakMap<Node, FindViolations>();

export function createFindViolations(document: Node): FindViolations {
  const known = created.get(document);
  if (known) return known;
  const compile = createCompiler(document);
  const findViolations: FindViolations = (pointer, value) => {
    const validate = compile(pointer);
    return validate(value) ? [] : [AJV.errorsText(validate.errors)];
  };
  created.set(document, findViolations);
  return findViolations;
}
