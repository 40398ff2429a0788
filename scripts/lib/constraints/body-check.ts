import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { valueAt } from "./json.ts";
import { locate, members, type Node, step } from "./pointer.ts";

/** A place of a value that is wrong, and the keywords that say so. */
export type Fault = { readonly pointer: string; readonly keywords: ReadonlySet<string> };

/** What the schema at a pointer of the document finds wrong with a value, one fault for each place. */
export type FindFaults = (schemaPointer: string, value: unknown) => Fault[];

/**
 * Checks values by the document alone, and in another way than the server: of a `oneOf` only the branch that the tag names is
 * looked at. Knows no `x-` keyword.
 */
export function createFindFaults(document: Node): FindFaults {
  const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: true });
  addFormats.default(ajv);
  ajv.addSchema(toTagged(document) as Node, "contract");
  const compiled = new Map<string, ValidateFunction>();

  return (schemaPointer, value) => {
    const validate = compiled.get(schemaPointer) ?? ajv.compile({ $ref: `contract#${schemaPointer}` });
    compiled.set(schemaPointer, validate);
    validate(value);
    return group(validate.errors ?? [], value);
  };
}

/** The validator takes no mapping, and looks only at objects: what is none must be refused beside it. */
function toTagged(document: Node): unknown {
  return JSON.parse(JSON.stringify(document), (_key, part) => {
    if (!part?.oneOf || !part.discriminator) return part;
    return { type: "object", ...part, discriminator: { propertyName: part.discriminator.propertyName } };
  });
}

function group(errors: readonly ErrorObject[], value: unknown): Fault[] {
  const faults = new Map<string, Set<string>>();
  for (const error of errors.filter(({ keyword }) => keyword !== "if")) {
    const pointer = error.instancePath + memberOf(error);
    const keywords = faults.get(pointer) ?? new Set();
    for (const keyword of keywordsOf(error, valueAt(value, pointer))) keywords.add(keyword);
    faults.set(pointer, keywords);
  }
  return [...faults].map(([pointer, keywords]) => ({ pointer, keywords }));
}

function memberOf({ params }: ErrorObject): string {
  const name = params.missingProperty ?? params.additionalProperty ?? params.tag;
  return name === undefined ? "" : step(name);
}

/** A tag that names no branch breaks the `oneOf`, and the word of each branch about its tag. */
function keywordsOf({ keyword }: ErrorObject, tag: unknown): string[] {
  if (keyword !== "discriminator") return [keyword];
  if (tag === undefined) return ["oneOf", "required"];
  return ["oneOf", typeof tag === "string" ? "const" : "type"];
}

/** Where the schema of an operation's request body stands, if it has one. */
export function requestSchema(document: Node, operationPointer: string): string | undefined {
  const [here, operation] = locate(document, operationPointer);
  if (operation.requestBody === undefined) return undefined;
  const [bodyPointer, body] = locate(document, `${here}/requestBody`);
  const [mediaType] = members(body.content)[0] ?? [];
  return mediaType === undefined ? undefined : `${bodyPointer}/content${step(mediaType)}/schema`;
}
