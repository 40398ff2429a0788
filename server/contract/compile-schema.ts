import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { toPointer } from "../../openapi/document/pointer.ts";
import { type ContractDocument, type DocumentPath, follow } from "./contract-document.ts";

/** Compiles schemas of a document. An unknown keyword or format is an error, because ignoring it would let data pass. */
export function createCompiler(document: ContractDocument): CompileSchema {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: true,
    // Ajv's optimizer takes a third of the time to compile and makes no validation faster: V8 drops unused code itself.
    code: { optimize: false },
    // The document is linted, and compiling the schema of schemas would take longer than compiling the document's own.
    validateSchema: false,
  });
  addFormats.default(ajv);
  const extensions = new Set(JSON.stringify(document).match(/(?<=")x-[\w-]+(?=":)/g));
  // Ajv reads the whole document as a schema, and so has to know its other members.
  ajv.addVocabulary([...Object.keys(document), "discriminator", "example", ...extensions]);
  ajv.addSchema(document, "contract");
  // Most problems share one schema.
  const compiled = new Map<string, ValidateFunction>();
  return (path) => {
    const pointer = toPointer(follow(document, path)[1]);
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `contract#${pointer}` });
    compiled.set(pointer, validate);
    return validate;
  };
}

export type CompileSchema = (path: DocumentPath) => ValidateFunction;
