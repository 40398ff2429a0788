export type Node = { readonly [name: string]: unknown };

/** A part of a document: where it was looked for, and where it is written, after what refers to it. */
export type Spot = {
  readonly document: Node;
  readonly asked: string;
  readonly pointer: string;
  readonly value: unknown;
};

/** The whole document. */
export function rootOf(document: Node): Spot {
  return { document, asked: "", pointer: "", value: document };
}

/** A part of a part, by its names; where one of them only refers to another part, that one. */
export function at(spot: Spot, ...names: readonly (string | number)[]): Spot {
  return names.reduce<Spot>((found, name) => followed(childOf(found, name)), spot);
}

/** A part of a part, as it is written. */
export function childOf({ document, pointer, value }: Spot, name: string | number): Spot {
  const asked = `${pointer}/${escaped(`${name}`)}`;
  const child = isNode(value) || Array.isArray(value) ? (value as Node)[name] : undefined;
  return { document, asked, pointer: asked, value: child };
}

/** The names in an object, and none in anything else. */
export function namesIn({ value }: Spot): string[] {
  return isNode(value) ? Object.keys(value) : [];
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [names, others] = [Object.keys(one), Object.keys(other)];
  return (
    names.length === others.length &&
    names.every((name) => isEqual((one as Node)[name], (other as Node)[name]))
  );
}

function followed(spot: Spot): Spot {
  const reference = isNode(spot.value) ? spot.value.$ref : undefined;
  if (typeof reference !== "string") return spot;
  let value: unknown = spot.document;
  for (const name of reference.slice(2).split("/")) {
    value = isNode(value) ? value[name.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return followed({ ...spot, pointer: reference.slice(1), value });
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
