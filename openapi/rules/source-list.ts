import { keywordsHolding } from "../document/keywords.ts";
import type { Conditions } from "./conditions.ts";
import { type Headings, nearestId } from "./headings.ts";
import {
  type Context,
  type DocumentNode,
  isNode,
  isReference,
  type Location,
  type Position,
  toList,
} from "./redocly.ts";

export type Targets = { clauses: Headings; decisions: Headings };

export type Violation = { message: string; location: Position };

const form = '{ kind: specified, clause: "2.3" } or { kind: decided, decision: D07 }';

/** Every violation of one list of sources, wherever it stands. */
export function violationsOfSources(list: unknown, location: Location, targets: Targets): Violation[] {
  if (!Array.isArray(list) || list.length === 0) {
    return [{ message: `A source list holds at least one source: write ${form}.`, location }];
  }
  const seen = new Set<string>();
  return list.flatMap((source: unknown, index) => {
    const key = JSON.stringify(source);
    const repeated = seen.has(key);
    seen.add(key);
    const message = repeated
      ? `The source ${key} occurs twice: remove one.`
      : violationOfSource(source, targets);
    return message === undefined ? [] : [{ message, location: location.child(index) }];
  });
}

function violationOfSource(source: unknown, { clauses, decisions }: Targets): string | undefined {
  if (!isNode(source)) return `A source is an object: write ${form}.`;
  const { kind, ...rest } = source;
  if (kind === "specified") return violationOfPointer("clause", rest, clauses);
  if (kind === "decided") return violationOfPointer("decision", rest, decisions);
  return `The kind of a source is specified or decided, not ${JSON.stringify(kind)}: write ${form}.`;
}

function violationOfPointer(
  name: string,
  fields: Record<string, unknown>,
  headings: Headings,
): string | undefined {
  const { [name]: id, ...others } = fields;
  const [extra] = Object.keys(others);
  if (extra !== undefined) return `A source with a ${name} holds nothing else: remove \`${extra}\`.`;
  if (id === undefined) return `The source names no ${name}: write ${form}.`;
  // An unquoted 12.10 is the number 12.1, which is another clause.
  if (typeof id !== "string") return `The ${name} ${String(id)} is not a string: put it in quotes.`;
  if (headings.ids.has(id)) return undefined;
  return `The ${name} ${id} has no heading in ${headings.file}: the nearest is ${nearestId(id, headings.ids)}.`;
}

const keywords = keywordsHolding("values");

/** Every violation of the sources of an enumeration's values: one entry for each value, and none besides. */
export function violationsOfEnumSource(
  schema: DocumentNode,
  location: Location,
  targets: Targets,
  isCondition: boolean,
): Violation[] {
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
  return violationsOfTable(table, schema, location, targets);
}

function violationsOfTable(
  table: DocumentNode,
  schema: DocumentNode,
  location: Location,
  targets: Targets,
): Violation[] {
  const values = new Map<string, Location>();
  for (const keyword of keywords) {
    for (const [index, value] of toList(schema[keyword]).entries()) {
      values.set(String(value), location.child([keyword, index]));
    }
  }
  const missing = [...values]
    .filter(([value]) => !Object.hasOwn(table, value))
    .map(([value, position]) => ({
      message: `The value \`${value}\` has no source: add it to \`x-enum-source\`.`,
      location: position,
    }));
  const entries = Object.entries(table).flatMap(([value, sources]) => {
    const position = location.child(["x-enum-source", value]);
    if (values.has(value)) return violationsOfSources(sources, position, targets);
    return [
      {
        message: `\`x-enum-source\` names \`${value}\`, which is no value: remove it.`,
        location: position.key(),
      },
    ];
  });
  return [...missing, ...entries];
}

/** What to do about a missing source, for the end of a message. */
export const addSource =
  "add `x-source` with the clauses of the interface or the decisions that it comes from";

/** The properties without a source of a schema that has been entered; one that is a `$ref` has it in the target. */
export function violationsOfProperties(
  schema: DocumentNode,
  ctx: Context,
  conditions: Conditions,
): Violation[] {
  return keywordsHolding("properties").flatMap((keyword) => {
    const properties = schema[keyword];
    if (!isNode(properties)) return [];
    return Object.entries(properties).flatMap(([name, property]) => {
      if (conditions.has(property)) return [];
      const violation = isReference(property)
        ? violationOfTarget(name, property, ctx)
        : violationOfProperty(name, property, ctx, keyword);
      return violation ?? [];
    });
  });
}

function violationOfProperty(
  name: string,
  property: unknown,
  ctx: Context,
  keyword: string,
): Violation | undefined {
  if (isNode(property) && "x-source" in property) return undefined;
  const location = ctx.location.child([keyword, name]).key();
  return { message: `Property \`${name}\` has no source: ${addSource}.`, location };
}

function violationOfTarget(name: string, reference: unknown, ctx: Context): Violation | undefined {
  const { node, location } = ctx.resolve(reference);
  // A reference that leads nowhere is another rule's to report.
  if (location === undefined || (isNode(node) && "x-source" in node)) return undefined;
  return { message: `The schema of property \`${name}\` has no source: ${addSource}.`, location };
}
