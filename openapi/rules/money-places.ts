import { type DocumentNode, isNode, type Resolve, toList } from "./redocly.ts";

/** A number inside an example that its schema calls money. */
export type MoneyPlace = { path: (string | number)[]; schema: DocumentNode };

type Step = { schema: unknown; file: string; value: unknown; path: (string | number)[] };

/** Finds the money in a value by walking it along its schema. `file` is the one that the schema stands in. */
export function moneyPlaces(schema: unknown, file: string, value: unknown, resolve: Resolve): MoneyPlace[] {
  return placesIn({ schema, file, value, path: [] }, resolve, []);
}

/** `above` holds the schemas that describe the same value already, so that a schema made of itself ends. */
function placesIn(step: Step, resolve: Resolve, above: DocumentNode[]): MoneyPlace[] {
  const { node, location } = resolve(step.schema, step.file);
  if (!isNode(node) || above.includes(node)) return [];
  if ("x-fraction-digits" in node) return [{ path: step.path, schema: node }];

  const here = { ...step, file: location?.source.absoluteRef ?? step.file };
  return [
    ...branchesOf(node, here, resolve).flatMap((branch) => placesIn(branch, resolve, [...above, node])),
    ...childrenOf(node, here).flatMap((child) => placesIn(child, resolve, [])),
  ];
}

function branchesOf(schema: DocumentNode, here: Step, resolve: Resolve): Step[] {
  return [schema.allOf, schema.anyOf, schema.oneOf]
    .flatMap(toList)
    .filter((branch) => !isOtherTag(resolve(branch, here.file).node, here.value))
    .map((branch) => ({ ...here, schema: branch }));
}

/** Says whether a `const` of the branch shows that the value belongs to another one. */
function isOtherTag(branch: unknown, value: unknown): boolean {
  if (!isNode(branch) || !isNode(branch.properties) || !isNode(value)) return false;
  return Object.entries(branch.properties).some(
    ([name, tag]) => isNode(tag) && "const" in tag && name in value && value[name] !== tag.const,
  );
}

function childrenOf(schema: DocumentNode, { value, file, path }: Step): Step[] {
  if (Array.isArray(value)) {
    return value.map((item, index) => ({ schema: schema.items, file, value: item, path: [...path, index] }));
  }
  const { properties } = schema;
  if (!isNode(value) || !isNode(properties)) return [];
  return Object.entries(value)
    .filter(([name]) => Object.hasOwn(properties, name))
    .map(([name, child]) => ({ schema: properties[name], file, value: child, path: [...path, name] }));
}
