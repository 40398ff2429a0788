/** A value as JavaScript writes it. */
export function toJavaScript(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"(\w+)":/gm, "$1$2:");
}

/** A value as Python writes it. */
export function toPython(value: unknown): string {
  const words: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };
  const text = JSON.stringify(value, null, 4);
  return text.replaceAll(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false|null)\b/g,
    (found, quoted) => quoted ?? words[found],
  );
}
