import type { ErrorObject } from "ajv/dist/2020.js";
import { locate, members, type Node } from "../../../openapi/document/document-node.ts";
import { removeAt, setAt, step, valueAt } from "../../../openapi/document/pointer.ts";
import { createCompiler } from "../../../openapi/document/schema-validators.ts";

/** One change of a body: the JSON text to set at a pointer, or nothing, to remove the value there. */
export type Edit = { readonly pointer: string; readonly json?: string };

/** Marks where a number is inserted as it is given (1.00, 1e0), which `JSON.stringify` can't do. */
const MARK = "\u{F0000}mark\u{F0000}";

/** The text of a body after a change. The parent of the changed part must exist. */
export function write(body: unknown, { pointer, json }: Edit): string {
  if (pointer === "") return json ?? "";
  const changed = json === undefined ? removeAt(body, pointer) : setAt(body, pointer, MARK);
  return JSON.stringify(changed).replace(JSON.stringify(MARK), () => json ?? "");
}

/** A body after a change, parsed again, so that numbers are numbers. */
export function edit(body: unknown, change: Edit): unknown {
  return JSON.parse(write(body, change));
}

/** The same value, with every string replaced that `texts` names, at any depth. */
export function replaceTexts(value: unknown, texts: Readonly<Record<string, string>>): unknown {
  return JSON.parse(JSON.stringify(value), (_key, part) =>
    typeof part === "string" && Object.hasOwn(texts, part) ? texts[part] : part,
  );
}

/** An invalid part of a value, and the keywords that it violates. */
export type Violation = { readonly pointer: string; readonly keywords: ReadonlySet<string> };

/** The violations of the schema at a pointer of the document in a value, one for each part. */
export type FindViolations = (schemaPointer: string, value: unknown) => Violation[];

/** Validates by the document alone; of a `oneOf`, by the branch that the tag names. Ignores `x-` keywords. */
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
