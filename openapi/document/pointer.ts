/** Writes the JSON Pointer (RFC 6901) that leads through these names: `/paths/~1v1~1refunds`. */
export function toPointer(names: readonly (string | number)[]): string {
  return names.map(step).join("");
}

/** Writes one name as a step of a JSON Pointer, with the slash before it. */
export function step(name: string | number): string {
  return `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Reads the names that a JSON Pointer leads through. */
export function stepsOf(pointer: string): string[] {
  return pointer.split("/").slice(1).map(unescapeName);
}

/** Reverses the escapes of one name in a JSON Pointer. */
export function unescapeName(escaped: string): string {
  return escaped.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The name of the value at a pointer, which is the last one that the pointer leads through. */
export function nameAt(pointer: string): string {
  return stepsOf(pointer).at(-1) ?? "";
}

/** Whether a pointer equals another one, or points to something inside the other's target. */
export function isWithin(pointer: string, outer: string): boolean {
  return pointer === outer || pointer.startsWith(`${outer}/`);
}

/** The pointer to what holds the value at a pointer. */
export function holderOf(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf("/")));
}

/** Narrows a JSON value to an object or a list, whose members can be looked up by name. */
export function isHolder(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Reads the value at a pointer; undefined where there is none. Takes references as they are written. */
export function valueAt(document: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>(
    (holder, name) => (isHolder(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined),
    document,
  );
}

/** Copies a document with another value at a pointer. Throws where nothing can hold the value. */
export function setAt<Document>(document: Document, pointer: string, value: unknown): Document {
  return change(document, stepsOf(pointer), () => value) as Document;
}

/** Copies a document without the member or the item at a pointer. Throws where nothing could hold it. */
export function removeAt<Document>(document: Document, pointer: string): Document {
  const steps = stepsOf(pointer);
  const last = steps.pop() ?? "";
  return change(document, steps, (holder) => {
    if (Array.isArray(holder)) return holder.toSpliced(Number(last), 1);
    if (!isHolder(holder)) throw new Error(`nothing holds ${pointer}`);
    return Object.fromEntries(Object.entries(holder).filter(([name]) => name !== last));
  }) as Document;
}

/** Copies only what holds the changed part: the rest is shared. */
function change(part: unknown, steps: readonly string[], to: (part: unknown) => unknown): unknown {
  const [name, ...rest] = steps;
  if (name === undefined) return to(part);
  if (!isHolder(part)) throw new Error(`nothing holds ${name}`);
  const changed = change(part[name], rest, to);
  return Array.isArray(part) ? part.with(Number(name), changed) : { ...part, [name]: changed };
}
