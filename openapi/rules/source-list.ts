import { type Headings, nearestId } from "./headings.ts";
import { isNode, type Location, type Place } from "./redocly.ts";

export type Targets = { clauses: Headings; decisions: Headings };

export type Fault = { message: string; location: Place };

const form = '{ kind: specified, clause: "2.3" } or { kind: decided, decision: D07 }';

/** Every fault of one list of sources, wherever it stands. */
export function faultsOfSources(list: unknown, location: Location, targets: Targets): Fault[] {
  if (!Array.isArray(list) || list.length === 0) {
    return [{ message: `A source list holds at least one source: write ${form}.`, location }];
  }
  const seen = new Set<string>();
  return list.flatMap((source: unknown, index) => {
    const key = JSON.stringify(source);
    const repeated = seen.has(key);
    seen.add(key);
    const message = repeated ? `The source ${key} stands twice: remove one.` : faultOfSource(source, targets);
    return message === undefined ? [] : [{ message, location: location.child(index) }];
  });
}

function faultOfSource(source: unknown, { clauses, decisions }: Targets): string | undefined {
  if (!isNode(source)) return `A source is an object: write ${form}.`;
  const { kind, ...rest } = source;
  if (kind === "specified") return faultOfPointer("clause", rest, clauses);
  if (kind === "decided") return faultOfPointer("decision", rest, decisions);
  return `The kind of a source is specified or decided, not ${JSON.stringify(kind)}: write ${form}.`;
}

function faultOfPointer(
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
  if (headings.ids.size === 0 || headings.ids.has(id)) return undefined;
  return `The ${name} ${id} has no heading in ${headings.file}: the nearest is ${nearestId(id, headings.ids)}.`;
}
