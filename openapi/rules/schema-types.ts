import type { DocumentNode } from "./redocly.ts";

/** The `type` of a schema as a list, empty when it names none. */
export function typesOf(schema: DocumentNode): string[] {
  const { type } = schema;
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === "string") : [];
}

/** Says whether the schema lists the values that it takes. */
export function isEnumerated(schema: DocumentNode): boolean {
  return "const" in schema || Array.isArray(schema.enum);
}
