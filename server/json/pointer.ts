/** Writes a JSON Pointer (RFC 6901), such as `/amount/value`; without names, it points to the whole document. */
export function toPointer(names: readonly (string | number)[]): string {
  return names.map((name) => `/${escapeName(String(name))}`).join("");
}

function escapeName(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Reverses the escapes of one name in a JSON Pointer. */
export function unescapeName(escaped: string): string {
  return escaped.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Narrows a JSON value to an object or a list, whose members can be looked up by name. */
export function isHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
