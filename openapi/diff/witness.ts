import { isNode, memberOf, membersOf, type Node } from "./document.ts";
import { referred, type Schema } from "./schema.ts";
import { isValid } from "./values.ts";

/** How many values of one schema, and of one of its parts, are tried. */
const TRIED = 600;
const PARTS = 12;
const PLAIN = ["a", 1, null, true, {}, [], "", 0, -1, 1.5, false, "A1", "a b", "é-", [1, 1]];
const TEXTS = "2026-01-31T09:30:00Z 2026-01-31 09:30:00Z a@example.com https://example.com/a /a example.com 192.0.2.1 2001:db8::1 3f0c8d5e-7b1a-4c62-9d84-0a6e5f2b1c19".split(" "); // biome-ignore format: one line

/** A value that is valid for the first schema and not for the second; undefined when none is found by trying. */
export function findWitness(valid: Schema, invalid: Schema): { readonly is: unknown } | undefined {
  const tried = samplesOf([valid, invalid], 0).slice(0, TRIED);
  const index = tried.findIndex(
    (value) => isValid(value, valid) === true && isValid(value, invalid) === false,
  );
  return index < 0 ? undefined : { is: tried[index] };
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const partsOf = (nodes: readonly Node[], ...names: readonly string[]) =>
  nodes.flatMap((node) => names.flatMap((name) => (name in node ? [node[name]] : [])));
/** Numbers at a limit, and just beside it. */
const around = (nodes: readonly Node[], ...names: readonly string[]) =>
  (partsOf(nodes, ...names) as number[]).flatMap((limit) => [limit, limit + 1, limit - 1]);
const lengthsOf = (nodes: readonly Node[], ...names: readonly string[]) =>
  around(nodes, ...names).filter((length) => length >= 0 && length < 3000);

/** Values near the limits of schemas that apply to the same value, the simplest first. */
function samplesOf(schemas: readonly unknown[], depth: number): unknown[] {
  const applied = new Set<Node>();
  const visit = (schema: unknown): void => {
    if (!isNode(schema) || applied.has(schema)) return;
    applied.add(schema);
    visit(referred(schema.$ref)?.schema);
    for (const name of ["allOf", "anyOf", "oneOf"]) listOf(schema[name]).forEach(visit);
    for (const name of ["not", "if", "then", "else"]) visit(schema[name]);
    for (const [, part] of membersOf(schema.dependentSchemas)) visit(part);
  };
  schemas.forEach(visit);
  const nodes = [...applied];
  const all = [
    ...[...partsOf(nodes, "enum").flat(), ...partsOf(nodes, "const")],
    ...around(nodes, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf").flatMap(
      (one) => [one, one + 0.5],
    ),
    ...lengthsOf(nodes, "minLength", "maxLength").map((length) => "a".repeat(length)),
    ...(partsOf(nodes, "format").length > 0 ? TEXTS : []),
    ...(depth < 4 ? [...objects(nodes, depth + 1), ...lists(nodes, depth + 1)] : []),
    ...PLAIN,
  ];
  return [...new Map(all.map((value) => [JSON.stringify(value), value])).values()];
}

function objects(nodes: readonly Node[], depth: number): Node[] {
  const required = partsOf(nodes, "required").flat().map(String);
  const declared = partsOf(nodes, "properties", "dependentSchemas", "dependentRequired").flatMap((one) =>
    Object.keys(one as object),
  );
  const patterns = partsOf(nodes, "patternProperties").flatMap(membersOf);
  const rest = [
    ...partsOf(nodes, "additionalProperties", "unevaluatedProperties"),
    ...patterns.map(([, part]) => part),
  ];
  const sizes = lengthsOf(nodes, "minProperties", "maxProperties");
  const others = patterns.map(([pattern]) => pattern.replaceAll(/[\^$*+?\\()[\]{}|]/g, ""));
  const names = [...new Set([...required, ...declared, ...others, "y", "zzzzzz"])];
  if (names.length + rest.length + sizes.length + partsOf(nodes, "propertyNames").length < 3) return [];
  const options = names.map((name) => {
    const own = nodes.flatMap((node) => memberOf(node.properties, name) ?? []);
    return [name, samplesOf(own.length > 0 ? own : rest, depth).slice(0, PARTS)] as const;
  });
  const pick = (isPicked: (name: string, index: number) => boolean): Node =>
    Object.fromEntries(
      options.filter(([name], index) => isPicked(name, index)).map(([name, [first]]) => [name, first]),
    );
  const needed = nodes.map((node) => pick((name) => listOf(node.required).includes(name)));
  const bases = [
    {},
    pick((name) => required.includes(name)),
    pick((name) => declared.includes(name)),
    ...needed,
  ];
  const counted = sizes.map((size) => pick((_name, index) => index < size));
  const varied = options.flatMap(([name, values]) =>
    values.flatMap((value) => bases.slice(0, 3).map((base) => ({ ...base, [name]: value }))),
  );
  return [
    ...bases,
    ...counted,
    ...declared.map((name) => pick((one) => one !== name && declared.includes(one))),
    ...varied,
  ];
}

function lists(nodes: readonly Node[], depth: number): unknown[][] {
  const firsts = partsOf(nodes, "prefixItems") as unknown[][];
  const rest = partsOf(nodes, "items", "contains", "unevaluatedItems");
  const counts = lengthsOf(nodes, "minItems", "maxItems", "minContains", "maxContains").filter(
    (count) => count < 200,
  );
  if (firsts.length + rest.length + counts.length === 0) return [];
  const size = Math.max(0, ...firsts.map((list) => list.length)) + 2;
  const columns = Array.from({ length: size }, (_, index) =>
    samplesOf([...firsts.flatMap((list) => list[index] ?? []), ...rest], depth).slice(0, PARTS),
  );
  return [...Array(size + 1).keys(), ...counts].flatMap((length) => {
    const simple = Array.from({ length }, (_, index) => columns[Math.min(index, size - 1)]?.[0]);
    return [
      simple,
      ...columns
        .slice(0, length)
        .flatMap((column, index) => column.map((value) => simple.with(index, value))),
    ];
  });
}
