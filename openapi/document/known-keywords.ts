import type { Node } from "./document-node.ts";
import * as values from "./keyword-test-values.ts";

/** What tests, forms, lint and the 3.0 document know of a keyword: for `maxLength: 3`, that it limits texts, and texts of 3 and 4 characters. */
export type Keyword = {
  /** The type of the values that it limits; `nothing`: it only informs. Absent: no values are derived, so its use can't be tested. */
  readonly limits?: "any" | "text" | "number" | "list" | "object" | "nothing";
  /** Values at its limits: for `maxLength: 3`, texts of three characters. */
  readonly obeying?: values.Values;
  /** Values just beyond them: texts of four characters. */
  readonly breaking?: values.Values;
  /** The side of a bound: of a length, a size or a number. `above` and `below` exclude the bound itself. */
  readonly bound?: "least" | "most" | "above" | "below";
  /** What a form says about it, such as `at most 255 characters`; empty where the field itself shows it. */
  readonly hint?: (value: unknown, schema: Node) => string;
  /** Values of the keyword that differ by a small mistake: for `maxLength: 3`, 2 and 4. */
  readonly mistaken?: (value: unknown, schema: Node) => unknown[];
  /** The parts of its value: `items` holds a schema, `oneOf` branches. */
  readonly holds?:
    | "schema"
    | "condition"
    | "branches"
    | "properties"
    | "values"
    | "names"
    | "names by trigger";
  /** The value with which it limits nothing: `uniqueItems: false`. */
  readonly idle?: unknown;
  /** OpenAPI 3.0 has no such keyword, and nothing to replace it. */
  readonly newIn31?: true;
  /** What to do instead, because common generators drop the keyword or stop at it. */
  readonly remedy?: string;
};

/** Numbers one step away, where the keyword can have them. */
const nearNumbers = (value: unknown, schema: Node): number[] => {
  const step = schema["x-fraction-digits"] === undefined ? 1 : 0.01;
  return [-1, 1].map((by) => Number((Number(value) + by * step).toFixed(2)));
};
const nearCounts = (value: unknown): number[] => nearNumbers(value, {}).filter((count) => count >= 0);

/** A list with one value more, with each value renamed, and without each of them. */
const nearLists = (value: unknown): unknown[] => {
  const list = value as string[];
  const shorter = list.length > 1 ? list.map((_entry, index) => list.toSpliced(index, 1)) : [];
  return [[...list, "OTHER"], ...list.map((entry, index) => list.with(index, `${entry}X`)), ...shorter];
};

const OTHER_TYPES: Readonly<Record<string, string>> = {
  ...{ string: "integer", integer: "string", number: "string", boolean: "string" },
  ...{ object: "array", array: "object" },
};

const nearTypes = (value: unknown): unknown[] => {
  const now = [value].flat().map(String);
  const other = OTHER_TYPES[now[0] ?? ""] ?? "integer";
  const wider = now.includes("null") ? ["integer"] : ["null", other];
  return [
    now.length === 1 ? other : "integer",
    ...wider.map((type) => [...now, type]),
    ...(now.length > 1 ? now : []),
    ...now.flatMap((type) => ({ number: ["integer"], integer: ["number"] })[type] ?? []),
  ];
};

/** A condition about another constant, or about one name less. */
const nearConditions = (value: unknown): unknown[] => {
  const condition = value as { properties?: Record<string, Node>; required?: string[] };
  const { properties = {}, required = [] } = condition;
  return [
    ...Object.entries(properties).map(([name, schema]) => ({
      ...condition,
      properties: { ...properties, [name]: { ...schema, const: `${schema.const}X` } },
    })),
    ...required.map((_name, index) => ({ ...condition, required: required.toSpliced(index, 1) })),
  ];
};

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  uri: ["uri-reference", "email"],
  "date-time": ["date", "time"],
};

/** No words are needed: the field shows it. */
const shown = () => "";
const toWords = (number: unknown): string => Number(number).toLocaleString("en-US");

const { textsOfLength, listsOfLength, stepsBeyond } = values;
/** Keywords that limit nothing, and only inform. */
const INFORMING = [
  ...["title", "description", "example", "examples", "externalDocs", "$comment", "default", "discriminator"],
  ...["x-source", "x-enum-source", "x-open", "x-unbounded", "x-wording", "x-pattern-message"],
  ...["x-retry", "x-transitions", "x-waiting-period", "x-event-categories"],
];

const SAY_IT = "say the same in the description as well";

/**
 * Every keyword that documents of this project may use: what it limits, which values obey it and
 * which break it. A new one is an entry here; the requests of each constraint, the mutants, the
 * console, the document for 3.0 and the lint rules read it.
 */
export const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: {
    limits: "any",
    mistaken: nearTypes,
    hint: shown,
    obeying: values.itself,
    breaking: values.otherTypes,
  },
  enum: {
    limits: "any",
    holds: "values",
    mistaken: nearLists,
    hint: shown,
    obeying: values.listedValues,
    breaking: values.nearMisses,
  },
  const: {
    limits: "any",
    mistaken: (value) => [`${value}X`],
    obeying: values.constantValue,
    breaking: values.nearMisses,
  },
  minLength: {
    limits: "text",
    bound: "least",
    mistaken: nearCounts,
    obeying: textsOfLength(0),
    breaking: textsOfLength(-1),
    hint: (value) => (Number(value) > 1 ? `at least ${value} characters` : ""),
  },
  maxLength: {
    limits: "text",
    bound: "most",
    mistaken: nearCounts,
    obeying: textsOfLength(0),
    breaking: textsOfLength(1),
    hint: (value) => `at most ${value} characters`,
  },
  pattern: {
    limits: "text",
    obeying: values.insideText,
    breaking: values.aroundText,
    // That U+0000 is excluded is not worth mentioning.
    hint: (value, schema) =>
      String(value).includes("\\x00") ? "" : String(schema["x-pattern-message"] ?? ""),
  },
  format: {
    limits: "text",
    mistaken: (value) => [...(FORMATS[String(value)] ?? [])],
    obeying: values.formatSamples("obeying"),
    breaking: values.formatSamples("breaking"),
    // A pattern beside it says more.
    hint: (value, { pattern }) =>
      pattern === undefined ? `such as ${values.FORMAT_SAMPLES[String(value)]?.obeying[0] ?? value}` : "",
  },
  "x-extensible-enum": { limits: "text", holds: "values", mistaken: nearLists },
  minimum: {
    limits: "number",
    bound: "least",
    mistaken: nearNumbers,
    obeying: stepsBeyond(0),
    breaking: stepsBeyond(-1),
    hint: (value, { maximum }) =>
      maximum === undefined ? `at least ${toWords(value)}` : `${toWords(value)} to ${toWords(maximum)}`,
  },
  maximum: {
    limits: "number",
    bound: "most",
    mistaken: nearNumbers,
    obeying: stepsBeyond(0),
    breaking: stepsBeyond(1),
    hint: (value, { minimum }) => (minimum === undefined ? `at most ${toWords(value)}` : ""),
  },
  exclusiveMinimum: {
    limits: "number",
    bound: "above",
    mistaken: nearNumbers,
    obeying: stepsBeyond(1),
    breaking: stepsBeyond(0, -1),
    hint: (value) => `more than ${toWords(value)}`,
    remedy: "say `minimum`",
  },
  exclusiveMaximum: {
    limits: "number",
    bound: "below",
    mistaken: nearNumbers,
    obeying: stepsBeyond(-1),
    breaking: stepsBeyond(0, 1),
    hint: (value) => `less than ${toWords(value)}`,
    remedy: "say `maximum`",
  },
  "x-fraction-digits": {
    limits: "number",
    mistaken: nearCounts,
    obeying: values.enoughDigits,
    breaking: values.tooManyDigits,
    hint: (value) => `at most ${value} decimals`,
  },
  minItems: {
    limits: "list",
    bound: "least",
    mistaken: nearCounts,
    obeying: listsOfLength(0),
    breaking: listsOfLength(-1),
  },
  maxItems: {
    limits: "list",
    bound: "most",
    mistaken: nearCounts,
    obeying: listsOfLength(0),
    breaking: listsOfLength(1),
  },
  uniqueItems: { limits: "list", idle: false, breaking: values.sameItems },
  items: { limits: "list", holds: "schema" },
  required: { limits: "object", holds: "names", breaking: values.withoutMember },
  properties: { limits: "object", holds: "properties" },
  additionalProperties: {
    limits: "object",
    idle: true,
    mistaken: () => [true],
    breaking: values.withUnknownMember,
  },
  minProperties: { limits: "object", bound: "least", breaking: values.fewerMembers },
  maxProperties: { limits: "object", bound: "most", breaking: values.moreMembers },
  dependentRequired: { limits: "object", holds: "names by trigger", newIn31: true, remedy: SAY_IT },
  oneOf: {
    limits: "object",
    holds: "branches",
    breaking: values.wrongTags,
    remedy: "add a `discriminator` with a `mapping` for every branch",
  },
  if: { limits: "object", holds: "condition", mistaken: nearConditions, newIn31: true, remedy: SAY_IT },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema; the table is never awaited.
  then: { limits: "object", holds: "condition", newIn31: true },
  else: { limits: "object", holds: "condition", newIn31: true },
  not: { limits: "any", holds: "condition", remedy: "say what is allowed" },

  anyOf: { remedy: "use `oneOf` with a `discriminator`", holds: "branches" },
  allOf: { holds: "branches" },
  multipleOf: {},
  contains: { remedy: "say `items`", holds: "schema" },
  prefixItems: { remedy: "say `items`" },
  unevaluatedItems: { remedy: "say `items`" },
  propertyNames: { remedy: "name the properties", holds: "schema" },
  patternProperties: { remedy: "name the properties", holds: "properties" },
  dependentSchemas: { remedy: SAY_IT },
  unevaluatedProperties: { limits: "object", idle: true, remedy: "say `additionalProperties`" },

  ...Object.fromEntries(INFORMING.map((name) => [name, { limits: "nothing" }])),
  deprecated: { limits: "nothing", idle: false },
  "x-portability": { limits: "nothing", newIn31: true },
};

/** The keywords whose values have parts of a kind. */
export function keywordsHolding(...kinds: readonly Keyword["holds"][]): string[] {
  return Object.keys(KEYWORDS).filter((name) => kinds.includes(KEYWORDS[name]?.holds));
}

/**
 * Whether a keyword limits the values of a schema that has it; undefined for a keyword that no values are derived for. The format
 * of a number does not, because it names the type in generated code: the bounds are the constraint.
 */
export function limitsValues(keyword: string, schema: Node): boolean | undefined {
  const { limits, idle } = KEYWORDS[keyword] ?? {};
  if (limits === undefined) return undefined;
  const isText = schema.type === undefined || [schema.type].flat().includes("string");
  return limits !== "nothing" && schema[keyword] !== idle && (limits !== "text" || isText);
}
