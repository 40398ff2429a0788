/** Compares paths, webhooks and their operations, down to where schemas begin. */
import { isDeepStrictEqual } from "node:util";
import { describeChange, type SchemaUse } from "./compare-schemas.ts";
import { type Document, isUnaffected } from "./documents.ts";
import { type Effect, EXTENSIONS, sets } from "./extensions.ts";
import { isNode, locate, METHODS, memberOf, membersOf, type Node, nameAt, pairUp, step, targetOf } from "./json-pointer.ts"; // biome-ignore format: one line
import { type Finding, type Level, levelOf, type Use } from "./law.ts";
import { isText, schemaAt } from "./read-schema.ts";

/** A part of a document: where it is used (`asked`), and where it is defined. */
type Part = { readonly document: Document; readonly asked: string; readonly pointer: string; readonly value: unknown }; // biome-ignore format: one line
type Pair = readonly [base: Part, revision: Part];
type Found = Finding | SchemaUse;
/** What is found in a part that `around` has. The direction of the use is that of a request body. */
type Compare = (pair: Pair, use: Use, around: Pair) => Found[];

const differs: Compare = (pair, use) => changed(pair, "changed", use);
const flag =
  (whenSet: Effect, whenNot = whenSet) =>
  (pair: Pair, use: Use) => {
    const [before, after] = pair.map(({ value }) => value === true);
    return before === after ? [] : changed(pair, after ? whenSet : whenNot, use);
  };
const list = (toList: (value: unknown) => string[]) => (pair: Pair, use: Use) => {
  const [before, after] = pair.map(({ value }) => toList(value));
  return sets("loosened", "tightened")(before, after).flatMap((effect) => changed(pair, effect, use));
};
const content = (added: Level, removed: Level) => (pair: Pair, use: Use) => {
  const compare = (media: Pair) => compareKind("media", media, use, added, removed);
  return eachOf(pair, compare, (type) => type.toLowerCase().replaceAll(" ", ""));
};
/** Names that only generated code and `Prefer: example=` know: nothing on the wire changes, but their users have to. */
const names = (pair: Pair) =>
  eachOf(pair, ([base, revision]) => {
    const isGone = base.value !== undefined && revision.value === undefined;
    return isGone ? [finding(base.asked, undefined, "extended", "removed or renamed")] : [];
  });

/** How the members of each object are compared. */
const MEMBERS: Readonly<Record<string, Readonly<Record<string, Compare>>>> = {
  document: {
    paths: (pair) =>
      compareItems(pair, (path, method) => useOf("callers", `${method.toUpperCase()} ${path}`.trim())),
    webhooks: (pair) => compareItems(pair, (event) => useOf("receivers", `event ${event}`)),
    components: (pair) => [...names(inside(pair, "schemas")), ...names(inside(pair, "examples"))],
  },
  operation: {
    deprecated: flag("extended"),
    operationId: (pair) => (pair[0].value === undefined ? [] : changed(pair, "extended")),
    requestBody: (pair, use) => {
      const own = named(use, "request");
      return compareKind("body", pair, own, addedLevel(pair, own));
    },
    responses: (pair, use) =>
      compareResponses(pair, { ...use, direction: use.direction === "request" ? "response" : "request" }),
    callbacks: (pair, { name: caller }) =>
      eachOf(pair, (one, name) =>
        compareItems(one, (path) => useOf("receivers", `callback ${name} ${path} of ${caller}`)),
      ),
  },
  parameter: {
    required: flag("tightened", "loosened"),
    deprecated: flag("extended"),
    allowReserved: flag("loosened", "tightened"),
    allowEmptyValue: flag("loosened", "tightened"),
    schema: compareSchema,
    content: content("major", "major"),
  },
  body: {
    required: flag("tightened", "loosened"),
    // The writer chooses the media type: a receiver can't ask for the one that it knows.
    content: (pair, use) =>
      content(levelOf("loosened", use.direction), levelOf("tightened", use.direction))(pair, use),
  },
  response: {
    headers: (pair, use) => {
      const compare = (header: Pair, name: string) => compareParameter(header, named(use, name));
      return eachOf(pair, compare, (name) => name.toLowerCase());
    },
    // Callers name in `Accept` which media type they want.
    content: content("minor", "major"),
  },
  media: {
    schema: compareSchema,
    examples: names,
    encoding: (pair, use) => eachOf(pair, (one) => compareKind("encoding", one, use, "major", "major")),
  },
  encoding: { style: differs, explode: differs, contentType: list((types) => String(types).split(/, */)) },
  // The addresses of a scheme are deployment.
  scheme: {
    ...{ type: differs, in: differs, name: differs, scheme: differs },
    flows: list((flows) => Object.keys(flows ?? {})),
  },
};
/** Members that are compared with others below, and those that are no promise: servers are deployment, and texts help readers. */
const SILENT = ["security", "parameters", "name", "in", "style", "explode", "info", "openapi", "x-files", "servers", "tags", "links", "jsonSchemaDialect", "$self", "bearerFormat", "openIdConnectUrl"]; // biome-ignore format: one line

/** Every difference that affects callers or receivers, and the schemas that they use. */
export const compareOperations = (base: Document, revision: Document): Found[] =>
  compareMembers("document", [rootOf(base), rootOf(revision)]);

const useOf = (party: Use["party"], name: string): Use => {
  return { party, name, direction: party === "callers" ? "request" : "response" };
};
const named = (use: Use, name: string): Use => ({ ...use, name: `${name} of ${use.name}` });

/** Compares members one by one. For what nothing here knows, such as the headers of an encoding, the worst is assumed. */
function compareMembers(kind: string, pair: Pair, use?: Use): Found[] {
  return eachOf(pair, (parts, name) => {
    const compare = MEMBERS[kind]?.[name];
    if (kind !== "document" && name !== "schema" && isSame(parts)) return [];
    if (compare) return compare(parts, use as Use, pair);
    if (SILENT.includes(name) || isText(name)) return [];
    const effects = EXTENSIONS[name]?.rate(parts[0].value, parts[1].value) ?? (["unknown"] as const);
    return effects.flatMap((effect) => changed(parts, effect, use));
  });
}

const compareKind = (kind: string, pair: Pair, use: Use, added?: Level, removed?: Level): Found[] =>
  existence(pair, use, added, removed) ?? (isSame(pair) ? [] : compareMembers(kind, pair, use));

/** Path items. The names of parameters are no part of an address. */
function compareItems(pair: Pair, toUse: (name: string, method: string) => Use): Found[] {
  const compare = (item: Pair, name: string) => {
    const [old, place] = [item[0].asked, item[1].asked];
    const what = `path renamed from ${nameAt(old)}`;
    const renamed = { ...finding(place, undefined, "extended", what), old };
    const found = METHODS.flatMap((one) => compareOperation(inside(item, one), item, toUse(name, one)));
    return existence(item, toUse(name, "")) ?? [...(old === place ? [] : [renamed]), ...found];
  };
  return eachOf(pair, compare, (path) => path.replaceAll(/\{[^}]*\}/g, "{}"));
}

function compareOperation(pair: Pair, item: Pair, use: Use): Found[] {
  const rest = () => [...compareMembers("operation", pair, use), ...compareParameters(pair, item, use)];
  const parts = () => [...compareSecurity(pair, { ...use, direction: "request" }), ...rest()];
  return existence(pair, use) ?? parts();
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
    const coveringOf = (side: 0 | 1) =>
      [exact[side], ...ranges.map((one) => at(pair[side], one))].find(isThere) ?? exact[side];
    const covering = [coveringOf(0), coveringOf(1)] as const;
    const listed = covering.every(isThere) ? existence(exact, own, "minor", "minor") : undefined;
    const added = isKnown || own.direction === "request" ? "minor" : "major";
    return [...(listed ?? []), ...compareKind("response", covering, own, added)];
  });
}

/** Parameters by `in` and name, or by their place in a path; those of an operation replace those of its path. */
function compareParameters(pair: Pair, item: Pair, use: Use): Found[] {
  const [before, after] = [parametersOf(pair[0], item[0]), parametersOf(pair[1], item[1])];
  return pairUp([...before], [...after], ([key]) => key).flatMap(([old, now]) => {
    const none = (holder: Part) => ({ ...holder, value: undefined });
    const both = [old?.[1] ?? none(pair[0]), now?.[1] ?? none(pair[1])] as const;
    const { in: holder, name } = (both[1].value ?? both[0].value) as Node;
    return compareParameter(both, named(use, `${holder} ${name}`));
  });
}

function parametersOf(operation: Part, item: Part): Map<string, Part> {
  const places: string[] = nameAt(item.asked).match(/\{[^}]*\}/g) ?? [];
  const lists = [at(item, "parameters"), at(operation, "parameters")];
  const parts = lists.flatMap((list) => Object.keys(list.value ?? {}).map((index) => at(list, index)));
  const keyed = parts.map((part) => {
    const { in: holder, name } = part.value as Node;
    const own = holder === "header" ? String(name).toLowerCase() : name;
    return [`${holder} ${holder === "path" ? places.indexOf(`{${name}}`) : own}`, part] as const;
  });
  // OpenAPI ignores these, because it says the same elsewhere.
  return new Map(keyed.filter(([key]) => !/^header (accept|content-type|authorization)$/.test(key)));
}

/** A header or a parameter. */
function compareParameter(pair: Pair, use: Use): Found[] {
  const missing = existence(pair, use, addedLevel(pair, use));
  if (missing) return missing;
  const [before, after] = pair.map(({ value }) => {
    const { in: holder, explode, style: said } = value as Node;
    const style = said ?? (["query", "cookie"].includes(String(holder)) ? "form" : "simple");
    return `${style}, ${(explode ?? style === "form") ? "exploded" : "not exploded"}`;
  });
  const what = `style changed from ${before} to ${after}`;
  const form = finding(`${pair[1].pointer}/style`, use, "changed", what);
  return [...(before === after ? [] : [form]), ...compareMembers("parameter", pair, use)];
}

function compareSchema(_pair: Pair, use: Use, around: Pair): Found[] {
  const hidden = use.direction === "request" ? "readOnly" : "writeOnly";
  const located = ({ document, pointer }: Part) =>
    schemaAt({ document, pointer: `${pointer}/schema`, hidden });
  return [{ schemas: [located(around[0]), located(around[1])], use }];
}

const addedLevel = ([, { value }]: Pair, { direction }: Use) =>
  direction === "request" && memberOf(value, "required") === true ? "major" : "minor";

/** Alternatives that are no longer accepted, and schemes that changed. An empty list is one alternative without credentials. */
function compareSecurity(pair: Pair, use: Use): Found[] {
  const [before, after] = pair.map(({ document, value }) => {
    const own = memberOf(value, "security") ?? memberOf(document.root, "security");
    return Array.isArray(own) && own.length > 0 ? own.filter(isNode) : [{}];
  }) as [Node[], Node[]];
  const includes = (shown: unknown, asked: unknown) =>
    Array.isArray(shown) && (asked as unknown[]).every((scope) => shown.includes(scope));
  const suffices = (shown: Node) =>
    after.some((way) => membersOf(way).every(([name, scopes]) => includes(memberOf(shown, name), scopes)));
  const effect = before.every(suffices) ? "loosened" : "tightened";
  const what = `security changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`;
  const roots: Pair = [rootOf(pair[0].document), rootOf(pair[1].document)];
  const used = [...new Set(before.flatMap((way) => Object.keys(way)))];
  const schemes = used.map((name) => inside(roots, "components", "securitySchemes", name));
  return [
    ...(isDeepStrictEqual(before, after) ? [] : [finding(`${pair[1].pointer}/security`, use, effect, what)]),
    ...schemes.flatMap((scheme) => (scheme[1].value ? compareMembers("scheme", scheme, use) : [])),
  ];
}

const finding = (
  pointer: string,
  use: Use | undefined,
  effect: Effect,
  what: string,
  level = levelOf(effect, use?.direction ?? "request"),
): Finding => ({ pointer, uses: use ? [use] : [], effect, what, level });

/** What follows when not both have something; undefined where both do. */
function existence([base, revision]: Pair, use: Use, added: Level = "minor", removed: Level = "major") {
  if (base.value !== undefined && revision.value !== undefined) return undefined;
  if (revision.value !== undefined) return [finding(revision.asked, use, "loosened", "added", added)];
  return base.value === undefined ? [] : [finding(base.asked, use, "tightened", "removed", removed)];
}

function changed([base, revision]: Pair, effect: Effect, use?: Use): Finding[] {
  const what = `${nameAt(revision.asked)} ${describeChange(base.value, revision.value)}`;
  return isDeepStrictEqual(base.value, revision.value) ? [] : [finding(revision.asked, use, effect, what)];
}

const rootOf = (document: Document): Part => ({ document, asked: "", pointer: "", value: document.root });
/** A part of a part; references on the way are followed. */
function at({ document, pointer, value }: Part, name: string): Part {
  const [asked, member] = [pointer + step(name), memberOf(value, name)];
  const target = targetOf(member);
  const found = target === undefined ? undefined : locate(document.root, target);
  return { document, asked, pointer: found?.pointer ?? asked, value: found?.value ?? member };
}
/** Whether both are the same, with all that they refer to. */
const isSame = ([base, revision]: Pair) =>
  isDeepStrictEqual(base.value, revision.value) && isUnaffected(revision.document, revision.value);
const inside = (pair: Pair, ...path: string[]): Pair => [path.reduce(at, pair[0]), path.reduce(at, pair[1])];

/** What a comparison finds in the parts that either of the two has. Names with the same key mean the same. */
function eachOf(
  pair: Pair,
  compare: (pair: Pair, name: string) => Found[],
  keyOf = (name: string) => name,
): Found[] {
  const [before, after] = pair.map(({ value }) => membersOf(value).map(([name]) => name));
  return pairUp(before ?? [], after ?? [], keyOf).flatMap(([old, now]) => {
    const name = (now ?? old) as string;
    return compare([at(pair[0], old ?? name), at(pair[1], name)], name);
  });
}
