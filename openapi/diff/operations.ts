import { isDeepStrictEqual } from "node:util";
import { isNode, locate, METHODS, memberOf, membersOf, type Node, nameAt, step } from "./document.ts";
import { type Effect, EXTENSIONS, sets } from "./extensions.ts";
import { type Finding, type Level, levelOf, type Party, type Use } from "./law.ts";
import { isText, schemaAt } from "./schema.ts";
import { compareSchemas, describeChange } from "./schemas.ts";

/** A part of a document: where it is used (`asked`), and where it is defined. */
type Part = { readonly document: unknown; readonly asked: string; readonly pointer: string; readonly value: unknown }; // biome-ignore format: one line
type Pair = readonly [base: Part, revision: Part];
/** What is found in a part that `around` has. The direction of the use is that of a request body. */
type Compare = (pair: Pair, use: Use, around: Pair) => Finding[];

const differs: Compare = (pair, use) => changed(pair, "changed", use);
const flag = (effect?: Effect) => (pair: Pair, use: Use) => {
  const [before, after] = pair.map(({ value }) => value === true);
  return before === after ? [] : changed(pair, effect ?? (after ? "tightened" : "loosened"), use);
};
const content = (added: Level, removed: Level) => (pair: Pair, use: Use) => {
  const compare = (media: Pair) =>
    existence(media, use, added, removed) ?? compareMembers("media", media, use);
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
      return existence(pair, own, addedLevel(pair, own)) ?? compareMembers("body", pair, own);
    },
    responses: (pair, use) =>
      compareResponses(pair, { ...use, direction: use.direction === "request" ? "response" : "request" }),
    callbacks: (pair, { name: caller }) =>
      eachOf(pair, (one, name) =>
        compareItems(one, (path) => useOf("receivers", `callback ${name} ${path} of ${caller}`)),
      ),
  },
  parameter: {
    required: flag(),
    deprecated: flag("extended"),
    schema: compareSchema,
    content: content("major", "major"),
  },
  body: {
    required: flag(),
    // The writer chooses the media type: a receiver can't ask for the one that it knows.
    content: (pair, use) => {
      const { direction } = use;
      return content(levelOf("loosened", direction), levelOf("tightened", direction))(pair, use);
    },
  },
  response: {
    headers: (pair, use) => {
      const compare = (header: Pair, name: string) => compareParameter(header, named(use, name));
      return eachOf(pair, compare, (name) => name.toLowerCase());
    },
    // Callers name in `Accept` which media type they want.
    content: content("minor", "major"),
  },
  media: { schema: compareSchema, examples: names },
  // The addresses of a scheme are deployment.
  scheme: {
    ...{ type: differs, in: differs, name: differs, scheme: differs },
    flows: (pair, use) => {
      const [before, after] = pair.map(({ value }) => Object.keys(value ?? {}));
      return sets("loosened", "tightened")(before, after).flatMap((effect) => changed(pair, effect, use));
    },
  },
};
/** Members that are compared with others below, and those that are no promise: servers are deployment, and texts help readers. */
const SILENT = ["security", "parameters", "name", "in", "style", "explode", "info", "openapi", "x-files", "servers", "tags", "links", "jsonSchemaDialect", "$self", "bearerFormat", "openIdConnectUrl"]; // biome-ignore format: one line

/** Every difference between two documents that affects callers or receivers. */
export const compareOperations = (base: unknown, revision: unknown): Finding[] =>
  compareMembers("document", [rootOf(base), rootOf(revision)]);

const useOf = (party: Party, name: string): Use => {
  return { party, name, direction: party === "callers" ? "request" : "response" };
};
const named = (use: Use, name: string): Use => ({ ...use, name: `${name} of ${use.name}` });

/** Compares members one by one. For what nothing here knows, such as an encoding, the worst is assumed. */
function compareMembers(kind: string, pair: Pair, use?: Use): Finding[] {
  return eachOf(pair, (parts, name) => {
    const compare = MEMBERS[kind]?.[name];
    if (compare) return compare(parts, use as Use, pair);
    const [before, after] = parts.map(({ value }) => withoutText(value));
    if (SILENT.includes(name) || isText(name) || isDeepStrictEqual(before, after)) return [];
    const effects = EXTENSIONS[name]?.rate(before, after) ?? (["unknown"] as const);
    return effects.flatMap((effect) => changed(parts, effect, use));
  });
}

/** Path items. The names of parameters are no part of an address. */
function compareItems(pair: Pair, toUse: (name: string, method: string) => Use): Finding[] {
  const compare = (item: Pair, name: string) => {
    const [old, place] = [item[0].asked, item[1].asked];
    const what = `path renamed from ${nameAt(old)}`;
    const renamed = { ...finding(place, undefined, "extended", what), old };
    const found = METHODS.flatMap((one) => compareOperation(inside(item, one), item, toUse(name, one)));
    return existence(item, toUse(name, "")) ?? [...(old === place ? [] : [renamed]), ...found];
  };
  return eachOf(pair, compare, (path) => path.replaceAll(/\{[^}]*\}/g, "{}"));
}

function compareOperation(pair: Pair, item: Pair, use: Use): Finding[] {
  const [before, after] = item.map(({ value }) => memberOf(value, "parameters"));
  const isSame = pair[0].value === pair[1].value && before === after;
  const rest = () => [...compareMembers("operation", pair, use), ...compareParameters(pair, item, use)];
  const secured = () => compareSecurity(pair, { ...use, direction: "request" });
  return existence(pair, use) ?? [...secured(), ...(isSame ? [] : rest())];
}

/**
 * Responses are compared by status, or with the range that covers one. An added one is minor when HTTP makes readers treat it like a
 * documented one (RFC 9110, section 15: like the x00 of its class), and major when it is a new kind of success.
 */
function compareResponses(pair: Pair, use: Use): Finding[] {
  const statuses = membersOf(pair[0].value).map(([status]) => status);
  return eachOf(pair, (exact, status) => {
    const own = named(use, status);
    const isKnown = /^[45]/.test(status) && statuses.some((one) => one[0] === status[0]);
    const ranges = status === "default" ? [] : [`${status[0]}XX`, "default"];
    const covering = (side: 0 | 1) =>
      [exact[side], ...ranges.map((one) => at(pair[side], one))].find(({ value }) => value !== undefined) ??
      exact[side];
    const response = [covering(0), covering(1)] as const;
    return (
      existence(response, own, isKnown || own.direction === "request" ? "minor" : "major") ?? [
        ...(existence(exact, own, "minor", "minor") ?? []),
        ...compareMembers("response", response, own),
      ]
    );
  });
}

/** Parameters by `in` and name, or by their place in a path; those of an operation replace those of its path. */
function compareParameters(pair: Pair, item: Pair, use: Use): Finding[] {
  const [before, after] = [parametersOf(pair[0], item[0]), parametersOf(pair[1], item[1])];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const none = (holder: Part) => ({ ...holder, value: undefined });
    const both = [before.get(key) ?? none(pair[0]), after.get(key) ?? none(pair[1])] as const;
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
function compareParameter(pair: Pair, use: Use): Finding[] {
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

function compareSchema(_pair: Pair, use: Use, around: Pair): Finding[] {
  const hidden = use.direction === "request" ? "readOnly" : "writeOnly";
  const located = ({ document, pointer }: Part) =>
    schemaAt({ document, pointer: `${pointer}/schema`, hidden });
  return compareSchemas([located(around[0]), located(around[1])], use);
}

const addedLevel = ([, { value }]: Pair, { direction }: Use) =>
  direction === "request" && memberOf(value, "required") === true ? "major" : "minor";

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
  const roots: Pair = [rootOf(pair[0].document), rootOf(pair[1].document)];
  const used = [...new Set(before.flatMap((way) => Object.keys(way)))];
  const schemes = used.map((name) => inside(roots, "components", "securitySchemes", name));
  return [
    ...(isDeepStrictEqual(before, after) ? [] : [finding(`${pair[1].pointer}/security`, use, effect, what)]),
    ...schemes.flatMap((scheme) => (scheme[1].value ? compareMembers("scheme", scheme, use) : [])),
  ];
}

function withoutText(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutText);
  if (!isNode(value)) return value;
  const kept = membersOf(value).filter(([name]) => !isText(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutText(member)]));
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

function changed([base, revision]: Pair, effect: Effect, use?: Use): Finding[] {
  const what = `${nameAt(revision.asked)} ${describeChange(base.value, revision.value)}`;
  return isDeepStrictEqual(base.value, revision.value) ? [] : [finding(revision.asked, use, effect, what)];
}

const rootOf = (document: unknown): Part => ({ document, asked: "", pointer: "", value: document });
/** A part of a part; references on the way are followed. */
function at({ document, pointer, value }: Part, name: string): Part {
  const [asked, member] = [pointer + step(name), memberOf(value, name)];
  const found = memberOf(member, "$ref") === undefined ? undefined : locate(document, asked);
  return { document, asked, pointer: found?.pointer ?? asked, value: found?.value ?? member };
}
const inside = (pair: Pair, ...path: string[]): Pair => [path.reduce(at, pair[0]), path.reduce(at, pair[1])];

/** What a comparison finds in the parts that either of the two has. Names with the same key mean the same. */
function eachOf(
  pair: Pair,
  compare: (pair: Pair, name: string) => Finding[],
  keyOf = (name: string) => name,
) {
  const [before, after] = pair.map(({ value }) => {
    const all = membersOf(value).map(([name]) => name);
    const keyed = new Map(all.map((name) => [keyOf(name), name]));
    return keyed.size === all.length ? keyed : new Map(all.map((name) => [name, name]));
  }) as [Map<string, string>, Map<string, string>];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [old, now] = [before.get(key) ?? after.get(key) ?? key, after.get(key) ?? before.get(key) ?? key];
    return compare([at(pair[0], old), at(pair[1], now)], now);
  });
}
