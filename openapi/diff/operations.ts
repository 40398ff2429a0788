import { isDeepStrictEqual } from "node:util";
import { isNode, locate, METHODS, memberOf, membersOf, type Node, nameAt, step } from "./document.ts";
import { type Effect, EXTENSIONS, sets } from "./extensions.ts";
import { type Finding, type Level, levelOf, type Use } from "./law.ts";
import { isText, schemaAt } from "./schema.ts";
import { compareSchemas, describeChange } from "./schemas.ts";

/** A part of a document: where it is used (`asked`), and where it is defined. */
type Part = {
  readonly document: unknown;
  readonly asked: string;
  readonly pointer: string;
  readonly value: unknown;
};
type Pair = readonly [base: Part, revision: Part];

/** The members of each object that are compared below. */
const COMPARED = {
  document: ["paths", "webhooks", "components", "security", "info", "openapi", "x-files"],
  item: [...METHODS, "parameters"],
  operation: ["operationId", "deprecated", "security", "parameters", "requestBody", "responses", "callbacks"],
  parameter: ["name", "in", "required", "deprecated", "schema", "content", "style", "explode"],
  body: ["required", "content"],
  response: ["headers", "content"],
  media: ["schema", "examples"],
};
/** Servers are deployment, and the others help readers: none is a promise. */
const WITHOUT_PROMISE = ["servers", "tags", "links", "jsonSchemaDialect", "$self"];

/** Every difference between two documents that affects callers or receivers. */
export function compareOperations(base: unknown, revision: unknown): Finding[] {
  const pair = [rootOf(base), rootOf(revision)] as const;
  const called = (path: string, method: string) => `${method.toUpperCase()} ${path}`.trim();
  return [
    ...compareOthers(pair, "document"),
    ...compareItems(inside(pair, "paths"), (...names) => useOf("callers", "request", called(...names))),
    ...compareItems(inside(pair, "webhooks"), (event) => useOf("receivers", "response", `event ${event}`)),
    ...["schemas", "examples"].flatMap((kind) => compareNames(inside(pair, "components", kind))),
  ];
}
/** The direction is that of a request body: receivers read it, and write the response. */
const useOf = (party: Use["party"], direction: Use["direction"], name: string) => ({
  party,
  direction,
  name,
});
const named = (use: Use, name: string): Use => ({ ...use, name: `${name} of ${use.name}` });

/** Path items. The names of parameters are no part of an address. */
function compareItems(pair: Pair, toUse: (name: string, method: string) => Use): Finding[] {
  const compare = (name: string, item: Pair) => {
    const [use, before] = [toUse(name, ""), nameAt(item[0].asked)];
    const renamed = finding(item[1].asked, undefined, "extended", `path renamed from ${before}`);
    const operations = METHODS.flatMap((one) => compareOperation(inside(item, one), item, toUse(name, one)));
    const rest = [...compareOthers(item, "item", use), ...operations];
    return existence(item, use) ?? (nameAt(item[1].asked) === before ? rest : [renamed, ...rest]);
  };
  return eachOf(pair, compare, (path) => path.replaceAll(/\{[^}]*\}/g, "{}"));
}

function compareOperation(pair: Pair, item: Pair, use: Use): Finding[] {
  const calledBack = (one: Pair, name: string) =>
    compareItems(one, (path) => useOf("receivers", "response", `callback ${name} ${path} of ${use.name}`));
  const answered = { ...use, direction: use.direction === "request" ? "response" : "request" } as const;
  const missing = existence(pair, use);
  const isSame =
    pair[0].value === pair[1].value &&
    memberOf(item[0].value, "parameters") === memberOf(item[1].value, "parameters");
  if (missing || isSame) return missing ?? compareSecurity(pair, { ...use, direction: "request" });
  return [
    ...compareFlag(pair, "deprecated", use),
    // Only generated code knows the name, so that it is renamed like a schema.
    ...(memberOf(pair[0].value, "operationId") === undefined ? [] : changed(pair, "operationId", "extended")),
    ...compareOthers(pair, "operation", use),
    ...compareSecurity(pair, { ...use, direction: "request" }),
    ...compareParameters(pair, item, use),
    ...compareBody(inside(pair, "requestBody"), named(use, "request")),
    ...compareResponses(inside(pair, "responses"), answered),
    ...eachOf(inside(pair, "callbacks"), (name, one) => calledBack(one, name)),
  ];
}

function compareBody(pair: Pair, use: Use): Finding[] {
  // The writer chooses the media type: a receiver can't ask for the one that it knows.
  const types = [levelOf("loosened", use.direction), levelOf("tightened", use.direction)] as const;
  const rest = () => [...compareOthers(pair, "body", use), ...compareContent(pair, types, use)];
  return existence(pair, use, addedLevel(pair, use)) ?? [...compareFlag(pair, "required", use), ...rest()];
}

/**
 * Responses are compared by status, or with the range that covers one. An added one is minor when HTTP makes readers treat it like a
 * documented one (RFC 9110, section 15: like the x00 of its class), and major when it is a new kind of success.
 */
function compareResponses(pair: Pair, use: Use): Finding[] {
  const statuses = membersOf(pair[0].value).map(([status]) => status);
  return eachOf(pair, (status, exact) => {
    const own = named(use, status);
    const isKnown = /^[45]/.test(status) && statuses.some((one) => one[0] === status[0]);
    const ranges = status === "default" ? [] : [`${status[0]}XX`, "default"];
    const covering = (side: 0 | 1) =>
      [exact[side], ...ranges.map((one) => at(pair[side], one))].find(({ value }) => value !== undefined) ??
      exact[side];
    const response = [covering(0), covering(1)] as const;
    const headers = (name: string, header: Pair) => compareParameter(header, named(own, name));
    const missing = existence(response, own, isKnown || own.direction === "request" ? "minor" : "major");
    if (missing) return missing;
    return [
      ...(existence(exact, own, "minor", "minor") ?? []),
      ...eachOf(inside(response, "headers"), headers, (name) => name.toLowerCase()),
      ...compareOthers(response, "response", own),
      // Callers name in `Accept` which media type they want.
      ...compareContent(response, ["minor", "major"], own),
    ];
  });
}

/** Parameters by `in` and name, or by their place in a path; those of an operation replace those of its path. */
function compareParameters(pair: Pair, item: Pair, use: Use): Finding[] {
  const keyed = (side: 0 | 1) => {
    const places: string[] = nameAt(item[side].asked).match(/\{[^}]*\}/g) ?? [];
    const lists = [at(item[side], "parameters"), at(pair[side], "parameters")];
    const parts = lists.flatMap((list) => Object.keys(list.value ?? {}).map((index) => at(list, index)));
    const keyOf = ({ value }: Part) => {
      const { in: holder, name } = value as Node;
      if (holder === "path") return `path ${places.indexOf(`{${name}}`)}`;
      return `${holder} ${holder === "header" ? String(name).toLowerCase() : name}`;
    };
    // OpenAPI ignores these, because it says the same elsewhere.
    const isOwn = (part: Part) => !/^header (accept|content-type|authorization)$/.test(keyOf(part));
    return new Map(parts.filter(isOwn).map((part) => [keyOf(part), part]));
  };
  const [before, after] = [keyed(0), keyed(1)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const none = (holder: Part) => ({ ...holder, value: undefined });
    const both = [before.get(key) ?? none(pair[0]), after.get(key) ?? none(pair[1])] as const;
    const { in: holder, name } = (both[1].value ?? both[0].value) as Node;
    return compareParameter(both, named(use, `${holder} ${name}`));
  });
}

/** A header or a parameter. */
function compareParameter(pair: Pair, use: Use): Finding[] {
  const missing = existence(pair, use, addedLevel(pair, use));
  if (missing) return missing;
  const [before, after] = pair.map(({ value }) => {
    const { in: holder, explode, style: said } = value as Node;
    const style = said ?? (["query", "cookie"].includes(String(holder)) ? "form" : "simple");
    return `${style}, ${(explode ?? style === "form") ? "exploded" : "not exploded"}`;
  });
  const form = finding(
    `${pair[1].pointer}/style`,
    use,
    "changed",
    `style changed from ${before} to ${after}`,
  );
  return [
    ...["required", "deprecated"].flatMap((name) => compareFlag(pair, name, use)),
    ...(before === after ? [] : [form]),
    ...compareOthers(pair, "parameter", use),
    ...compareContent(pair, ["major", "major"], use),
    ...compareSchema(pair, use),
  ];
}

function compareContent(pair: Pair, [added, removed]: readonly [Level, Level], use: Use): Finding[] {
  const compare = (_type: string, media: Pair) =>
    existence(media, use, added, removed) ?? [
      ...compareOthers(media, "media", use),
      ...compareNames(inside(media, "examples")),
      ...compareSchema(media, use),
    ];
  return eachOf(inside(pair, "content"), compare, (type) => type.toLowerCase().replaceAll(" ", ""));
}

function compareSchema(pair: Pair, use: Use): Finding[] {
  const hidden = use.direction === "request" ? "readOnly" : "writeOnly";
  const located = ({ document, pointer }: Part) =>
    schemaAt({ document, pointer: `${pointer}/schema`, hidden });
  return compareSchemas([located(pair[0]), located(pair[1])], use);
}

const addedLevel = ([, { value }]: Pair, { direction }: Use) =>
  direction === "request" && memberOf(value, "required") === true ? "major" : "minor";

function compareFlag(pair: Pair, name: string, use: Use): Finding[] {
  const [before, after] = pair.map(({ value }) => memberOf(value, name) === true);
  const effect = name === "deprecated" ? "extended" : after ? "tightened" : "loosened";
  return before === after ? [] : changed(pair, name, effect, use);
}

/** Alternatives that are no longer accepted, and schemes that changed. An empty list is one alternative without credentials. */
function compareSecurity(pair: Pair, use: Use): Finding[] {
  const [before, after] = pair.map(({ document, value }) => {
    const own = memberOf(value, "security") ?? memberOf(document, "security");
    return Array.isArray(own) && own.length > 0 ? own.filter(isNode) : [{}];
  }) as [Node[], Node[]];
  const includes = (shown: unknown, asked: unknown) =>
    Array.isArray(shown) && (asked as unknown[]).every((scope) => shown.includes(scope));
  const suffices = (shown: Node) =>
    after.some((way) => membersOf(way).every(([name, scopes]) => includes(memberOf(shown, name), scopes)));
  const effect = before.every(suffices) ? "loosened" : "tightened";
  const what = `security changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`;
  const schemes = inside(
    [rootOf(pair[0].document), rootOf(pair[1].document)],
    "components",
    "securitySchemes",
  );
  const names = [...new Set(before.flatMap((way) => Object.keys(way)))];
  return [
    ...(isDeepStrictEqual(before, after) ? [] : [finding(`${pair[1].pointer}/security`, use, effect, what)]),
    ...names.flatMap((name) => compareScheme(inside(schemes, name), use)),
  ];
}

/** A security scheme, whose addresses are deployment. */
function compareScheme(pair: Pair, use: Use): Finding[] {
  const [before, after] = pair.map(({ value }) => Object.keys(memberOf(value, "flows") ?? {}));
  const flows = sets("loosened", "tightened")(before, after);
  if (pair[1].value === undefined) return [];
  const own = ["type", "in", "name", "scheme"].flatMap((field) => changed(pair, field, "changed", use));
  return [...own, ...flows.flatMap((effect) => changed(pair, "flows", effect, use))];
}

/** What nothing here compares, such as an encoding: the worst is assumed, unless it is only text. */
function compareOthers(pair: Pair, kind: keyof typeof COMPARED, use?: Use): Finding[] {
  return eachOf(pair, (name, parts) => {
    if ([...COMPARED[kind], ...WITHOUT_PROMISE].includes(name) || isText(name)) return [];
    const [before, after] = parts.map(({ value }) => withoutText(value));
    if (isDeepStrictEqual(before, after)) return [];
    const effects = EXTENSIONS[name]?.rate(before, after) ?? (["unknown"] as const);
    return effects.flatMap((effect) => changed(pair, name, effect, use));
  });
}

function withoutText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutText);
  if (!isNode(value)) return value;
  const kept = membersOf(value).filter(([name]) => !isText(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutText(member)]));
}

/** Names that only generated code and `Prefer: example=` know: nothing on the wire changes, but their users have to. */
function compareNames(pair: Pair): Finding[] {
  return eachOf(pair, (_name, [base, revision]) => {
    const isGone = base.value !== undefined && revision.value === undefined;
    return isGone ? [finding(base.asked, undefined, "extended", "removed or renamed")] : [];
  });
}

function finding(
  pointer: string,
  use: Use | undefined,
  effect: Effect,
  what: string,
  level?: Level,
): Finding {
  return { pointer, use, effect, what, level: level ?? levelOf(effect, use?.direction ?? "request") };
}

/** What follows when not both have something; undefined where both do. */
function existence([base, revision]: Pair, use: Use, added: Level = "minor", removed: Level = "major") {
  if (base.value !== undefined && revision.value !== undefined) return undefined;
  if (revision.value !== undefined) return [finding(revision.asked, use, "loosened", "added", added)];
  return base.value === undefined ? [] : [finding(base.asked, use, "tightened", "removed", removed)];
}

function changed([base, revision]: Pair, name: string, effect: Effect, use?: Use): Finding[] {
  const [before, after] = [memberOf(base.value, name), memberOf(revision.value, name)];
  const what = `${name} ${describeChange(before, after)}`;
  return isDeepStrictEqual(before, after) ? [] : [finding(revision.pointer + step(name), use, effect, what)];
}

const rootOf = (document: unknown): Part => ({ document, asked: "", pointer: "", value: document });
/** A part of a part; references on the way are followed. */
function at({ document, pointer, value }: Part, name: string): Part {
  const [asked, member] = [pointer + step(name), memberOf(value, name)];
  const found = memberOf(member, "$ref") === undefined ? undefined : locate(document, asked);
  return { document, asked, pointer: found?.pointer ?? asked, value: found?.value ?? member };
}
const inside = (pair: Pair, ...names: string[]): Pair => [
  names.reduce(at, pair[0]),
  names.reduce(at, pair[1]),
];

type Compare = (name: string, pair: Pair) => Finding[];
/** What a comparison finds in the parts that either of the two has. Names with the same key mean the same. */
function eachOf(pair: Pair, compare: Compare, keyOf = (name: string) => name): Finding[] {
  const [before, after] = pair.map(({ value }) => {
    const keyed = new Map(membersOf(value).map(([name]) => [keyOf(name), name]));
    return keyed.size === membersOf(value).length
      ? keyed
      : new Map(membersOf(value).map(([name]) => [name, name]));
  }) as [Map<string, string>, Map<string, string>];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, now] = [before.get(key) ?? after.get(key) ?? key, after.get(key) ?? before.get(key) ?? key];
    return compare(now, [at(pair[0], old), at(pair[1], now)]);
  });
}
