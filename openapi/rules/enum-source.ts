import { type DocumentNode, isNode, type Location, toList } from "./redocly.ts";
import { type Fault, faultsOfSources, type Targets } from "./source-list.ts";

const keywords = ["enum", "x-extensible-enum"] as const;

/** Every fault of the sources of an enumeration's values: one entry for each value, and none besides. */
export function faultsOfEnumSource(
  schema: DocumentNode,
  location: Location,
  targets: Targets,
  isCondition: boolean,
): Fault[] {
  const table = schema["x-enum-source"];
  const keyword = keywords.find((name) => Array.isArray(schema[name]));
  if (keyword === undefined) {
    if (table === undefined) return [];
    const message = "`x-enum-source` stands beside no `enum` and no `x-extensible-enum`: remove it.";
    return [{ message, location: location.child("x-enum-source").key() }];
  }
  if (!isNode(table)) {
    if (isCondition && table === undefined) return [];
    const message = `The values of \`${keyword}\` have no sources: add \`x-enum-source\`, with a list like \`x-source\` for each value.`;
    return [{ message, location: location.child(keyword).key() }];
  }
  return faultsOfTable(table, schema, location, targets);
}

function faultsOfTable(
  table: DocumentNode,
  schema: DocumentNode,
  location: Location,
  targets: Targets,
): Fault[] {
  const values = new Map<string, Location>();
  for (const keyword of keywords) {
    for (const [index, value] of toList(schema[keyword]).entries()) {
      values.set(String(value), location.child([keyword, index]));
    }
  }
  const missing = [...values]
    .filter(([value]) => !Object.hasOwn(table, value))
    .map(([value, place]) => ({
      message: `The value \`${value}\` has no source: add it to \`x-enum-source\`.`,
      location: place,
    }));
  const entries = Object.entries(table).flatMap(([value, sources]) => {
    const place = location.child(["x-enum-source", value]);
    if (values.has(value)) return faultsOfSources(sources, place, targets);
    return [
      {
        message: `\`x-enum-source\` names \`${value}\`, which is no value: remove it.`,
        location: place.key(),
      },
    ];
  });
  return [...missing, ...entries];
}
