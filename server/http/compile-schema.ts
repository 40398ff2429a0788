import { Ajv2020, type Options, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { ContractDocument } from "./contract.ts";
import { toPointer } from "./raw-json.ts";

/** Names from the top of a document to a part of it. */
export type Place = readonly string[];
/** Any part of a document. */
export type Node = { readonly [name: string]: unknown };
/** Compiles the schema at a place in the document, or one that is given. */
export type CompileSchema = (schema: Place | object) => ValidateFunction;

/** Compiles schemas of a document. A keyword or a format that is not known is an error, and not passed over. */
export function createCompiler(document: ContractDocument, options: Options = {}): CompileSchema {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    // It takes a third of the time to compile, and makes no check faster: V8 leaves out what is not used by itself.
    code: { optimize: false },
    ...options,
  });
  addFormats.default(ajv);
  const extensions = new Set(JSON.stringify(document).match(/(?<=")x-[\w-]+(?=":)/g));
  // The document around the schemas is no schema, and is looked at as one on the way to them.
  ajv.addVocabulary([...Object.keys(document), "discriminator", "example", ...extensions]);
  ajv.addSchema(document, "contract");
  // Most problems share one schema.
  const compiled = new Map<string, ValidateFunction>();
  const compileAt = (place: Place) => {
    const pointer = toPointer(follow(document, place)[1]);
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `contract#${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  };
  return (schema) => (isPlace(schema) ? compileAt(schema) : ajv.compile(schema));
}

function isPlace(schema: Place | object): schema is Place {
  return Array.isArray(schema);
}

/** The part of the document at a place, and where it really stands when that is a reference. */
export function follow(document: ContractDocument, place: Place): [node: Node, place: Place] {
  const node = place.reduce<unknown>((holder, name) => (holder as Node)[name], document) as Node;
  const reference = typeof node.$ref === "string" ? node.$ref.split("/").slice(1) : undefined;
  return reference ? follow(document, reference) : [node, place];
}

/** Where a parameter's or a body's schema can be referred to from a schema that is given. */
export function referenceTo(place: Place): { $ref: string } {
  return { $ref: `contract#${toPointer(place)}` };
}
