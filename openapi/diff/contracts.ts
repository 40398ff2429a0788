import { isDeepStrictEqual } from "node:util";
import { isNode, type Node } from "../document/node.ts";
import { METHODS } from "../document/operations.ts";
import { nameAt } from "../document/pointer.ts";
import { type Direction, type Finding, type Level, levelOf } from "./change.ts";
import { at, eachOf, inside, namesIn, type Pair, type Part, rootOf } from "./part.ts";
import { compareSchemas } from "./schemas.ts";
import { compareBesideReferences, compareUncompared } from "./uncompared.ts";

/** A caller writes the request and reads the response; a receiver of events does the opposite. */
type Call = { readonly name: string; readonly request: Direction; readonly response: Direction };

/** Every difference between two contracts that affects callers or receivers of events. */
export function compareContracts(base: Node, revision: Node): Finding[] {
  const pair = { base: rootOf(base), revision: rootOf(revision) };
  const called = { request: "request", response: "response" } as const;
  const sent = { request: "response", response: "request" } as const;
  return [
    ...compareUncompared(pair, "document", ""),
    ...compareUncompared(inside(pair, "components"), "components", ""),
    ...compareBesideReferences(pair),
    ...compareCalls(pair, "paths", (path, method) => ({
      name: `${method.toUpperCase()} ${path}`,
      ...called,
    })),
    ...compareCalls(pair, "webhooks", (event) => ({ name: `event ${event}`, ...sent })),
  ];
}

function compareCalls(pair: Pair, kind: string, toCall: (name: string, method: string) => Call): Finding[] {
  return eachOf(inside(pair, kind), (name, item) => {
    const whole = existence(item, { added: "minor", removed: "major" }, "");
    if (whole.length > 0) return whole;
    const operations = METHODS.flatMap((method) => {
      const operation = inside(item, method);
      const call = toCall(name, method);
      const found = existence(operation, { added: "minor", removed: "major" }, call.name);
      return found.length > 0 || operation.base.value === undefined
        ? found
        : compareOperation(operation, item, call);
    });
    return [...compareUncompared(item, "item", ""), ...operations];
  });
}

function compareOperation(pair: Pair, item: Pair, call: Call): Finding[] {
  const id = inside(pair, "operationId");
  const renamed = id.base.value === id.revision.value ? [] : [replaced(id, "major", call.name)];
  return [
    ...renamed,
    ...compareDeprecated(pair, call.name),
    ...compareUncompared(pair, "operation", call.name),
    ...compareSecurity(pair, call.name),
    ...compareParameters(pair, item, call),
    ...compareBody(inside(pair, "requestBody"), call),
    ...compareResponses(inside(pair, "responses"), call),
  ];
}

/** A body that callers must or may send. */
function compareBody(pair: Pair, call: Call): Finding[] {
  const use = { name: `request of ${call.name}`, direction: call.request };
  const required = (part: Part) => at(part, "required").value === true;
  const levels = { added: required(pair.revision) ? "major" : "minor", removed: "major" } as const;
  const found = existence(pair, levels, use.name);
  if (found.length > 0 || pair.base.value === undefined) return found;
  // Who writes chooses the media type: a receiver can't ask for the one that it knows.
  const types = { added: levelOf("loosened", use.direction), removed: levelOf("tightened", use.direction) };
  return [
    ...compareRequired(pair, use),
    ...compareUncompared(pair, "body", use.name),
    ...compareContent(inside(pair, "content"), types, use),
  ];
}

/**
 * Responses are compared by status. An added one is minor when HTTP makes readers treat it like a documented one (RFC 9110,
 * section 15: like the x00 of its class), and major when it is a new kind of success, which they can't understand.
 */
function compareResponses(pair: Pair, call: Call): Finding[] {
  const statuses = namesIn(pair.base);
  const isKnown = (status: string) =>
    statuses.includes("default") || (/^[45]/.test(status) && statuses.includes(`${status[0]}00`));
  return eachOf(pair, (status, response) => {
    const use = { name: `${status} of ${call.name}`, direction: call.response };
    const added = isKnown(status) || call.response === "request" ? "minor" : "major";
    const found = existence(response, { added, removed: "major" }, use.name);
    if (found.length > 0) return found;
    const headers = eachOf(inside(response, "headers"), (name, header) => {
      const named = { name: `${name} of ${use.name}`, direction: use.direction };
      return compareParameter(header, named);
    });
    // Callers name in `Accept` which media type they want.
    const types = { added: "minor", removed: "major" } as const;
    return [
      ...headers,
      ...compareUncompared(response, "response", use.name),
      ...compareContent(inside(response, "content"), types, use),
    ];
  });
}

/** Parameters by `in` and name, which together identify them; those of an operation replace those of its path. */
function compareParameters(pair: Pair, item: Pair, call: Call): Finding[] {
  const [before, after] = (["base", "revision"] as const).map((side) => {
    const parts = [item, pair].flatMap((holder) => {
      const list = at(holder[side], "parameters");
      return Array.isArray(list.value) ? list.value.map((_, index) => at(list, index)) : [];
    });
    return new Map(parts.map((part) => [`${at(part, "in").value} ${at(part, "name").value}`, part]));
  });
  return [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].flatMap((key) => {
    const none = (part: Part): Part => ({ ...at(part, "parameters"), value: undefined });
    const base = before?.get(key) ?? none(pair.base);
    const revision = after?.get(key) ?? none(pair.revision);
    return compareParameter({ base, revision }, { name: `${key} of ${call.name}`, direction: call.request });
  });
}

/** A header or a parameter: making it required breaks its writers, and making it optional breaks its readers. */
function compareParameter(pair: Pair, use: { name: string; direction: Direction }): Finding[] {
  const isRequired = at(pair.revision, "required").value === true && use.direction === "request";
  const found = existence(pair, { added: isRequired ? "major" : "minor", removed: "major" }, use.name);
  if (found.length > 0) return found;
  return [
    ...compareRequired(pair, use),
    ...compareDeprecated(pair, use.name),
    ...compareUncompared(pair, "parameter", use.name),
    ...compareSchemas(inside(pair, "schema"), use),
  ];
}

function compareRequired(pair: Pair, use: { name: string; direction: Direction }): Finding[] {
  const [before, after] = [pair.base, pair.revision].map((part) => at(part, "required").value === true);
  if (before === after) return [];
  return [
    replaced(inside(pair, "required"), levelOf(after ? "tightened" : "loosened", use.direction), use.name),
  ];
}

function compareDeprecated(pair: Pair, use: string): Finding[] {
  const [before, after] = [pair.base, pair.revision].map((part) => at(part, "deprecated").value === true);
  return before === after ? [] : [replaced(inside(pair, "deprecated"), "minor", use)];
}

function compareContent(
  pair: Pair,
  levels: { added: Level; removed: Level },
  use: { name: string; direction: Direction },
): Finding[] {
  return eachOf(pair, (_type, media) => {
    const found = existence(media, levels, use.name);
    if (found.length > 0) return found;
    return [...compareUncompared(media, "media", use.name), ...compareSchemas(inside(media, "schema"), use)];
  });
}

/** Something that only one of the two has. */
function existence(pair: Pair, levels: { added: Level; removed: Level }, use: string): Finding[] {
  const { base, revision } = pair;
  if ((base.value === undefined) === (revision.value === undefined)) return [];
  return base.value === undefined
    ? [{ pointer: revision.asked, use, what: "added", level: levels.added }]
    : [{ pointer: base.asked, use, what: "removed", level: levels.removed }];
}

function replaced({ base, revision }: Pair, level: Level, use: string): Finding {
  const name = nameAt(revision.pointer);
  const what = `${name} changed from ${base.value ?? "nothing"} to ${revision.value ?? "nothing"}`;
  return { pointer: revision.pointer, use, what, level };
}

/** Differences in security: alternatives that are no longer accepted, and schemes that changed. */
export function compareSecurity({ base, revision }: Pair, use: string): Finding[] {
  const [before, after] = [waysOf(base), waysOf(revision)];
  const pointer = `${revision.pointer}/security`;
  const what = `security changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`;
  const enough = (shown: Node) =>
    after.some((asked) => Object.entries(asked).every(([scheme, scopes]) => includes(shown[scheme], scopes)));
  if (before.some((shown) => !enough(shown))) return [{ pointer, use, what, level: "major" }];
  const schemes = new Set(before.flatMap((way) => Object.keys(way)));
  return [
    ...(isDeepStrictEqual(before, after) ? [] : [{ pointer, use, what, level: "minor" as const }]),
    ...[...schemes].flatMap((name) => compareScheme(base.document, revision.document, name, use)),
  ];
}

/** The alternatives of an operation; an empty list counts as one alternative without credentials. */
function waysOf(operation: Part): Node[] {
  const own = at(operation, "security").value ?? at(rootOf(operation.document), "security").value;
  const ways = Array.isArray(own) ? own.filter(isNode) : [];
  return ways.length > 0 ? ways : [{}];
}

function includes(shown: unknown, asked: unknown): boolean {
  return Array.isArray(shown) && Array.isArray(asked) && asked.every((scope) => shown.includes(scope));
}

function compareScheme(base: Node, revision: Node, name: string, use: string): Finding[] {
  const [before, after] = [base, revision].map((document) =>
    at(rootOf(document), "components", "securitySchemes", name),
  );
  if (!before || !after || after.value === undefined) return [];
  return [...new Set([...namesIn(before), ...namesIn(after)])].flatMap((field) => {
    const [old, now] = [at(before, field), at(after, field)];
    if (isDeepStrictEqual(old.value, now.value)) return [];
    const level = field === "description" ? "patch" : "major";
    return [{ pointer: now.pointer, use, what: `${field} of ${name} changed`, level }];
  });
}
