/** An entry of `x-source`. */
export type Source =
  | { readonly kind: "specified"; readonly clause: string }
  | { readonly kind: "decided"; readonly decision: string };

type Json = { [name: string]: unknown };

/** What a contract carries without reading it, and what is read below. */
const DATA = new Set(["example", "examples", "default", "const", "x-source", "x-enum-source"]);

/** Shows sources as links to what they name. */
type Badges = (sources: readonly Source[]) => string;

/**
 * Adds to the description of every element that has a source the badges of its sources, and to each listed value those of
 * its own. Changes the document that it is given.
 */
export function addBadges(node: unknown, badges: Badges): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const item of node) addBadges(item, badges);
    return;
  }
  const element = node as Json;
  for (const [name, child] of Object.entries(element)) {
    if (!DATA.has(name)) addBadges(child, badges);
  }
  const values = element["x-enum-source"] as Record<string, Source[]> | undefined;
  if (values) addToValues(element, values, badges);
  const sources = element["x-source"];
  if (Array.isArray(sources)) {
    element.description = `${element.description ?? ""}\n\n${badges(sources)}`.trimStart();
  }
}

/** A description that explains its values in a table gets the badges there; other values get a table of their own. */
function addToValues(schema: Json, values: Readonly<Record<string, Source[]>>, badges: Badges): void {
  let description = String(schema.description ?? "");
  const apart: [string, string][] = [];
  for (const [value, sources] of Object.entries(values)) {
    const row = new RegExp(`^(\\| \`${value.replaceAll(".", "\\.")}\` .*?) *\\|$`, "m");
    const shown = badges(sources);
    if (row.test(description)) description = description.replace(row, `$1 ${shown} |`);
    else apart.push([value, shown]);
  }
  if (description !== "") schema.description = description;
  if (apart.length > 0) schema["x-enumDescriptions"] = Object.fromEntries(apart);
}
