import { removeAt, setAt } from "../../../openapi/document/pointer.ts";

/** One change of a body: the JSON text to set at a pointer, or nothing, to remove the value there. */
export type Edit = { readonly pointer: string; readonly json?: string };

/**
 * Numbers are written as given (1.00, 1e0), which `JSON.stringify` can't do: a placeholder marks the position of the text.
 */
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
