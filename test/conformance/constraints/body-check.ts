import type { ErrorObject } from "ajv/dist/2020.js";
import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { step, valueAt } from "../../../openapi/document/pointer.ts";
import { createCompiler } from "../../../openapi/document/schemas.ts";

/** An invalid part of a value, and the keywords that it violates. */
export type Violation = { readonly pointer: string; readonly keywords: ReadonlySet<string> };

/** The violations of the schema at a pointer of the document in a value, one for each part. */
export type FindViolations = (schemaPointer: string, value: unknown) => Violation[];

/**
 * Validates values by the document only, and independently of the server: of a `oneOf`, only the branch that the tag names is
 * used. Ignores `x-` keywords.
 */
export function createFindViolations(document: Node): FindViolations {
  const compile = createCompiler(toTagged(document) as Node, { discriminator: true });

  return (schemaPointer, value) => {
    const validate = compile(schemaPointer);
    validate(value);
    return group(validate.errors ?? [], value);
  };
}

/** The validator supports no mapping, and applies to objects only: other values must be refused in addition. */
function toTagged(document: Node): unknown {
  return JSON.parse(JSON.stringify(document), (_key, part) => {
    if (!part?.oneOf || !part.discriminator) return part;
    return { type: "object", ...part, discriminator: { propertyName: part.discriminator.propertyName } };
  });
}

function group(errors: readonly ErrorObject[], value: unknown): Violation[] {
  const violations = new Map<string, Set<string>>();
  for (const error of errors.filter(({ keyword }) => keyword !== "if")) {
    const pointer = error.instancePath + memberOf(error);
    const keywords = violations.get(pointer) ?? new Set();
    for (const keyword of keywordsOf(error, valueAt(value, pointer))) keywords.add(keyword);
    violations.set(pointer, keywords);
  }
  return [...violations].map(([pointer, keywords]) => ({ pointer, keywords }));
}

function memberOf({ params }: ErrorObject): string {
  const name = params.missingProperty ?? params.additionalProperty ?? params.tag;
  return name === undefined ? "" : step(name);
}

/** A tag that names no branch violates the `oneOf`, and the constraint of each branch on its tag. */
function keywordsOf({ keyword }: ErrorObject, tag: unknown): string[] {
  if (keyword !== "discriminator") return [keyword];
  if (tag === undefined) return ["oneOf", "required"];
  return ["oneOf", typeof tag === "string" ? "const" : "type"];
}

/** The pointer to the schema of an operation's request body, if it has one. */
export function requestSchema(document: Node, operationPointer: string): string | undefined {
  const [here, operation] = locate(document, operationPointer);
  if (operation.requestBody === undefined) return undefined;
  const [bodyPointer, body] = locate(document, `${here}/requestBody`);
  const [mediaType] = members(body.content)[0] ?? [];
  return mediaType === undefined ? undefined : `${bodyPointer}/content${step(mediaType)}/schema`;
}
