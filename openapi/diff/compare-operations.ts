/** Compares paths, webhooks and their operations, down to where schemas begin. */
import { describeChange, type SchemaUse } from "./compare-schemas.ts";
import { AFTER, type Documents, invalidAt, ownPointer } from "./documents.ts";
import { type Effect, EXTENSIONS, flag, type Rate, sets } from "./extensions.ts";
import { isEqual, isNode, locate, METHODS, memberOf, membersOf, type Node, nameAt, pairUp, step, stepsOf, targetOf } from "./json-pointer.ts"; // biome-ignore format: one line
import { isText, schemaAt, unify } from "./read-schema.ts";
import { type Finding, type Level, levelOf, type Use } from "./severity.ts";

/** A part of a document: where it is used (`usedAt`), and where it is defined (`pointer`). */
type Part = { readonly documents: Documents; readonly usedAt: string; readonly pointer: string; readonly value: unknown }; // biome-ignore format: one line
type Pair = readonly [base: Part, revision: Part];
type Found = Finding | SchemaUse;
/** Compares one member of the objects `around`. `use.direction` is that of the request body; responses reverse it. */
type Compare = (pair: Pair, use: Use, around: Pair) => Found[];
type Each = (pair: Pair, name: string) => Found[];

const differs = () => ["changed"] as const;
/** The effects that another value of a member has. */
const EFFECTS: Readonly<Record<string, Rate>> = {
  operationId: (before) => (before === undefined ? [] : ["extended"]),
  deprecated: flag("extended", "extended"),
  required: flag("tightened", "loosened"),
  allowReserved: flag("loosened", "tightened"),
  allowEmptyValue: flag("loosened", "tightened"),
  ...{ style: differs, explode: differs, contentType: sets("loosened", "tightened") },
  // Of a security scheme; its addresses are deployment.
  ...{ type: differs, in: differs, scheme: differs, name: differs, flows: sets("loosened", "tightened") },
};
/** The value that counts for a member, such as its default where it is left out. */
const EFFECTIVE_VALUES: Readonly<Record<string, (part: Part) => unknown>> = {
  style: styleOf,
  explode: styleOf,
  // What fields of text have when nothing is said; that of others is only assumed to be another one.
  contentType: ({ value }) => String(memberOf(value, "contentType") ?? "text/plain").split(/, */),
  flows: ({ value }) => Object.keys(memberOf(value, "flows") ?? {}),
  // A parameter with another name is another one, or one of a path.
  name: ({ pointer, value }) => pointer.includes("/securitySchemes/") && memberOf(value, "name"),
};
/** What is written as text, such as a parameter, may be a number for one side and a string for the other. */
const STRING = unify({ type: "string" });
const TEXT = unify({ type: ["string", "number", "boolean"] });

/** How members are compared that have members of their own. */
const MEMBERS: Readonly<Record<string, Compare>> = {
  paths: (pair) =>
    compareItems(pair, (path, method) => useOf("callers", `${method.toUpperCase()} ${path}`.trim())),
  webhooks: (pair) => compareItems(pair, (event) => useOf("receivers", `event ${event}`)),
  callbacks: (pair, { name: caller }) =>
    eachOf(pair, (one, name) =>
      compareItems(one, (path) => useOf("receivers", `callback ${name} ${path} of ${caller}`)),
    ),
  components: (pair) => [...compareNames(inside(pair, "schemas")), ...compareNames(inside(pair, "examples"))],
  examples: compareNames,
  requestBody: (pair, use) => compareWhole(pair, named(use, "request"), addedLevel(pair, use)),
  responses: (pair, use) =>
    compareResponses(pair, { ...use, direction: use.direction === "request" ? "response" : "request" }),
  headers: (pair, use) => {
    const compare = (one: Pair, name: string) => compareWhole(one, named(use, name), addedLevel(one, use));
    return eachOf(pair, compare, (name) => name.toLowerCase());
  },
  content: (pair, use, [, { pointer, value }]) => {
    const [more, fewer] = [levelOf("loosened", use.direction), levelOf("tightened", use.direction)];
    // Callers name in `Accept` which media type they want. Otherwise the writer chooses; a parameter has a single one.
    const [added, removed] = pointer.includes("/responses/") ? (["minor", "major"] as const) : [more, fewer];
    const single = memberOf(value, "in") === undefined ? undefined : "major";
    const compare = (media: Pair) => compareWhole(media, use, single ?? added, single ?? removed);
    return eachOf(pair, compare, (type) => type.toLowerCase().replaceAll(" ", ""));
  },
  encoding: (pair, use) => eachOf(pair, (one) => compareMembers(one, use)),
  schema: (_pair, use, around) => {
    const isRequest = use.direction === "request" || !around[0].documents.isMarked;
    const hidden = isRequest ? "readOnly" : "writeOnly";
    const located = ({ documents, pointer, value }: Part) => {
      const found = schemaAt({ documents, pointer: `${pointer}/schema`, hidden });
      return memberOf(value, "in") && found.schema === STRING ? { ...found, schema: TEXT } : found;
    };
    return [{ pair: [located(around[0]), located(around[1])], use }];
  },
};
/** Members that are compared with others below, and those that are no promise: servers are deployment, and texts help readers. */
const NOT_COMPARED = ["security", "parameters", "info", "openapi", "x-files", "servers", "tags", "links", "jsonSchemaDialect", "$self", "bearerFormat", "openIdConnectUrl"]; // biome-ignore format: one line

/** Every difference that affects callers or receivers, and the schemas that they use. */
export const compareOperations = (documents: Documents): Found[] => compareMembers(rootsOf(documents));

const rootsOf = (documents: Documents) =>
  ["", AFTER].map((pointer): Part => {
    return { documents, usedAt: pointer, pointer, value: locate(documents, pointer)?.value };
  }) as unknown as Pair;
const useOf = (party: Use["party"], name: string): Use => {
  return { party, name, direction: party === "callers" ? "request" : "response" };
};
const named = (use: Use, name: string): Use => ({ ...use, name: `${name} of ${use.name}` });

/** Compares members one by one. For what nothing here knows, the worst is assumed. */
function compareMembers(pair: Pair, use?: Use): Found[] {
  const names = new Set(pair.flatMap(({ value }) => Object.keys(value ?? {})));
  return [...names].flatMap((name) => {
    const [before, after] = pair.map(({ value }) => memberOf(value, name));
    // What paths need of others can change although they don't.
    if (!["paths", "webhooks"].includes(name) && isEqual(before, after)) return [];
    const parts = inside(pair, name);
    const compare = MEMBERS[name];
    if (compare) return compare(parts, use as Use, pair);
    if (NOT_COMPARED.includes(name) || isText(name)) return [];
    const toValue = EFFECTIVE_VALUES[name];
    const [old, now] = toValue ? pair.map(toValue) : parts.map(({ value }) => value);
    const effects = (EFFECTS[name] ?? EXTENSIONS[name]?.rate)?.(old, now) ?? (["unknown"] as const);
    const what = `${name} ${describeChange(old, now)}`;
    return isEqual(old, now) ? [] : effects.map((effect) => finding(parts[1].usedAt, use, effect, what));
  });
}

/** Names that only generated code and `Prefer: example=` know: nothing on the wire changes, but their users have to. */
function compareNames(pair: Pair): Found[] {
  return eachOf(pair, ([base, revision]) =>
    revision.value === undefined ? [finding(base.usedAt, undefined, "extended", "removed or renamed")] : [],
  );
}

const compareWhole = (pair: Pair, use: Use, added?: Level, removed?: Level): Found[] =>
  existence(pair, use, added, removed) ?? (isSame(pair) ? [] : compareMembers(pair, use));

/** Path items. The names of parameters are no part of an address. */
function compareItems(pair: Pair, toUse: (name: string, method: string) => Use): Found[] {
  const roots = rootsOf(pair[0].documents);
  const needs = [inside(roots, "security"), inside(roots, "components", "securitySchemes")];
  const compare = (item: Pair, name: string): Found[] => {
    const [old, place] = [ownPointer(item[0].usedAt), ownPointer(item[1].usedAt)];
    if (old === place && [item, ...needs].every(isSame)) return [];
    const what = `path renamed from ${nameAt(old)}`;
    const renamed = { ...finding(place, undefined, "extended", what), old };
    const found = METHODS.flatMap((one) => compareOperation(inside(item, one), item, toUse(name, one)));
    return existence(item, toUse(name, "")) ?? [...(old === place ? [] : [renamed]), ...found];
  };
  return eachOf(pair, compare, (path) => path.replaceAll(/\{[^}]*\}/g, "{}"));
}

function compareOperation(pair: Pair, item: Pair, use: Use): Found[] {
  const missing = existence(pair, use);
  if (missing) return missing;
  const isWritten = ([base, revision]: Pair) =>
    isEqual(memberOf(base.value, "parameters"), memberOf(revision.value, "parameters"));
  return [
    ...compareSecurity(pair, { ...use, direction: "request" }),
    ...compareMembers(pair, use),
    ...([item, pair].every(isWritten) ? [] : compareParameters(pair, item, use)),
  ];
}

/**
 * Responses are compared by status, or with the range that covers one. An added one is minor when HTTP makes readers treat it like a
 * documented one (RFC 9110, section 15: like the x00 of its class), and major when it is a new kind of success.
 */
function compareResponses(pair: Pair, use: Use): Found[] {
  const documented = membersOf(pair[0].value).map(([status]) => status);
  return eachOf(pair, (exact, status) => {
    const own = named(use, status);
    const isKnown = /^[45]/.test(status) && documented.some((one) => one[0] === status[0]);
    const ranges = status === "default" ? [] : [`${status[0]}XX`, "default"];
    const isThere = ({ value }: Part) => value !== undefined;
    const covering = exact.map(
      (one, side) => [one, ...ranges.map((range) => at(pair[side] as Part, range))].find(isThere) ?? one,
    ) as unknown as Pair;
    const listed = covering.every(isThere) ? existence(exact, own, "minor", "minor") : undefined;
    const added = isKnown || own.direction === "request" ? "minor" : "major";
    return [...(listed ?? []), ...compareWhole(covering, own, added)];
  });
}

/** Parameters by `in` and name, or by their place in a path; those of an operation replace those of its path. */
function compareParameters(pair: Pair, item: Pair, use: Use): Found[] {
  const [before, after] = [parametersOf(pair[0], item[0]), parametersOf(pair[1], item[1])];
  return pairUp([...before], [...after], ([key]) => key).flatMap(([old, now]) => {
    const none = (holder: Part) => ({ ...holder, value: undefined });
    const both = [old?.[1] ?? none(pair[0]), now?.[1] ?? none(pair[1])] as const;
    const { in: holder, name } = (both[1].value ?? both[0].value) as Node;
    const found = compareWhole(both, named(use, `${holder} ${name}`), addedLevel(both, use));
    // A pointer only has the number of a parameter, which tells readers nothing.
    return found.map((one) =>
      "what" in one ? { ...one, what: `${holder} parameter ${name}: ${one.what}` } : one,
    );
  });
}

function parametersOf(operation: Part, item: Part): Map<string, Part> {
  const places: string[] = nameAt(item.usedAt).match(/\{[^}]*\}/g) ?? [];
  const lists = [at(item, "parameters"), at(operation, "parameters")];
  const parts = lists.flatMap((list) => Object.keys(list.value ?? {}).map((index) => at(list, index)));
  const keyed = parts.map((part) => {
    if (!isNode(part.value)) throw invalidAt(part.documents, part.usedAt, "be a parameter");
    const { in: holder, name } = part.value;
    const own = holder === "header" ? String(name).toLowerCase() : name;
    return [`${holder} ${holder === "path" ? places.indexOf(`{${name}}`) : own}`, part] as const;
  });
  // OpenAPI ignores these, because it says the same elsewhere.
  return new Map(keyed.filter(([key]) => !/^header (accept|content-type|authorization)$/.test(key)));
}

/** How values are written. */
function styleOf({ value, pointer }: Part): string {
  const { in: holder, explode, style: said } = (value ?? {}) as Node;
  const isForm = ["query", "cookie"].includes(String(holder)) || stepsOf(pointer).at(-2) === "encoding";
  const style = said ?? (isForm ? "form" : "simple");
  return `${style}, ${(explode ?? style === "form") ? "exploded" : "not exploded"}`;
}

const addedLevel = ([, { value }]: Pair, { direction }: Use) =>
  direction === "request" && memberOf(value, "required") === true ? "major" : "minor";

/** Alternatives that are no longer accepted, and schemes that changed. An empty list is one alternative without credentials. */
function compareSecurity(pair: Pair, use: Use): Found[] {
  const roots = rootsOf(pair[0].documents);
  const [before, after] = pair.map(({ value }, side) => {
    const own = memberOf(value, "security") ?? memberOf(roots[side]?.value, "security");
    return Array.isArray(own) && own.length > 0 ? own.filter(isNode) : [{}];
  }) as [Node[], Node[]];
  const includes = (shown: unknown, needed: unknown) =>
    Array.isArray(shown) && (needed as unknown[]).every((scope) => shown.includes(scope));
  const suffices = (ways: Node[]) => (shown: Node) =>
    ways.some((way) => membersOf(way).every(([name, scopes]) => includes(memberOf(shown, name), scopes)));
  const [grows, shrinks] = [before.every(suffices(after)), after.every(suffices(before))];
  const [at, effect] = [`${pair[1].pointer}/security`, grows ? "loosened" : "tightened"] as const;
  const used = [...new Set(before.flatMap((way) => Object.keys(way)))];
  const schemes = used.map((name) => inside(roots, "components", "securitySchemes", name));
  return [
    ...(grows && shrinks ? [] : [finding(at, use, effect, `security ${describeChange(before, after)}`)]),
    ...schemes.flatMap((scheme) => (scheme[1].value ? compareMembers(scheme, use) : [])),
  ];
}

function finding(at: string, use: Use | undefined, effect: Effect, what: string, level?: Level): Finding {
  const own = level ?? levelOf(effect, use?.direction ?? "request");
  return { pointer: ownPointer(at), uses: use ? [use] : [], effect, what, level: own };
}

/** What follows when not both have something; undefined where both do. */
function existence([base, revision]: Pair, use: Use, added: Level = "minor", removed: Level = "major") {
  if (base.value !== undefined && revision.value !== undefined) return undefined;
  if (revision.value !== undefined) return [finding(revision.usedAt, use, "loosened", "added", added)];
  return base.value === undefined ? [] : [finding(base.usedAt, use, "tightened", "removed", removed)];
}

/** A part of a part; references on the way are followed. */
function at({ documents, pointer, value }: Part, name: string): Part {
  const [usedAt, member] = [pointer + step(name), memberOf(value, name)];
  const target = targetOf(member);
  const found = target === undefined ? undefined : locate(documents, target);
  return { documents, usedAt, pointer: found?.pointer ?? usedAt, value: found?.value ?? member };
}
const inside = (pair: Pair, ...path: string[]): Pair => [path.reduce(at, pair[0]), path.reduce(at, pair[1])];
/** Whether both are the same, with all that they refer to. */
const isSame = ([base, revision]: Pair) => isEqual(base.value, revision.value);

/** What a comparison finds in the parts that either of the two has. Names with the same key mean the same. */
function eachOf(pair: Pair, compare: Each, keyOf = (name: string) => name): Found[] {
  const [before, after] = pair.map(({ value }) => membersOf(value).map(([name]) => name));
  return pairUp(before ?? [], after ?? [], keyOf).flatMap(([old, now]) => {
    const name = (now ?? old) as string;
    return compare([at(pair[0], old ?? name), at(pair[1], name)], name);
  });
}
