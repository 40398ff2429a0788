import type { Constraint } from "../../../openapi/document/constraints.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { type Mutant, mutant, put, remove } from "./mutant.ts";
import { changedPatterns } from "./patterns.ts";

/** The value that is added to a list, or replaces a constant. */
const OTHER = "OTHER";

/** The wrong type for each type. */
const MISTAKEN: Readonly<Record<string, string>> = {
  string: "integer",
  integer: "string",
  number: "string",
  boolean: "string",
  object: "array",
  array: "object",
};
/** Similar formats. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  uri: ["uri-reference", "email"],
  "date-time": ["date", "time"],
};

type Maker = (constraint: Constraint) => Mutant[];

/** Changes of a constraint. Each part of the document is changed once, however often it is referenced. */
export function mutantsOfConstraints(constraints: readonly Constraint[]): Mutant[] {
  const positions = new Map(constraints.map((constraint) => [constraint.pointer, constraint]));
  return [...positions.values()].flatMap((constraint) => {
    const make = MAKERS[constraint.keyword];
    if (!make) throw new Error(`no mutation for the keyword ${constraint.keyword} at ${constraint.pointer}`);
    return make(constraint);
  });
}

const removal: Maker = ({ pointer, keyword }) => [remove(pointer, `${keyword} removed`)];

const types: Maker = ({ pointer, value }) => {
  const now = [value].flat().map(String);
  const wider = now.includes("null") ? [OTHER_TYPE] : ["null", MISTAKEN[now[0] ?? ""] ?? OTHER_TYPE];
  return [
    remove(pointer, "type removed"),
    put(pointer, "type changed", now.length === 1 ? MISTAKEN[now[0] ?? ""] : "integer"),
    ...wider.map((type) => put(pointer, "type widened", [...now, type])),
    ...(now.length > 1 ? now.map((type) => put(pointer, "type narrowed", type)) : []),
    ...(value === "number" ? [put(pointer, "type narrowed", "integer")] : []),
    ...(value === "integer" ? [put(pointer, "type widened", "number")] : []),
  ];
};
const OTHER_TYPE = "integer";

const values: Maker = ({ pointer, keyword, value }) => {
  const list = value as string[];
  return [
    remove(pointer, `${keyword} removed`),
    put(pointer, `${keyword} value added`, [...list, OTHER]),
    ...list.map((one, index) => put(pointer + step(index), `${keyword} value renamed`, `${one}X`)),
    ...(list.length > 1
      ? list.map((_one, index) => remove(pointer + step(index), `${keyword} value removed`))
      : []),
  ];
};

const constant: Maker = ({ pointer, value }) => [
  remove(pointer, "const removed"),
  put(pointer, "const changed", `${value}X`),
  mutant(pointer, "const loosened", (holder, name) => {
    delete holder[name];
    holder.enum = [value, OTHER];
  }),
];

/** An upper or a lower bound. */
const bound =
  (loosens: 1 | -1): Maker =>
  ({ pointer, keyword, value, holder }) => {
    const step = holder["x-fraction-digits"] === undefined ? 1 : 0.01;
    const moved = (by: number) => Number((Number(value) + by * step).toFixed(2));
    const looser = moved(loosens);
    return [
      remove(pointer, `${keyword} removed`),
      put(pointer, `${keyword} tightened`, moved(-loosens)),
      ...(looser < 0 && !keyword.endsWith("inimum") ? [] : [put(pointer, `${keyword} loosened`, looser)]),
    ];
  };

const exclusiveMinimum: Maker = (constraint) => [
  ...bound(-1)(constraint),
  mutant(constraint.pointer, "exclusiveMinimum included", (holder, name) => {
    delete holder[name];
    holder.minimum = constraint.value;
  }),
];

const patterns: Maker = ({ pointer, value }) => [
  remove(pointer, "pattern removed"),
  ...changedPatterns(String(value)).map(({ kind, pattern }) => put(pointer, `pattern ${kind}`, pattern)),
];

const formats: Maker = ({ pointer, value }) => [
  remove(pointer, "format removed"),
  ...(FORMATS[String(value)] ?? []).map((format) => put(pointer, "format changed", format)),
];

const required: Maker = ({ pointer, value }) =>
  value === true
    ? [put(pointer, "required made optional", false)]
    : [remove(pointer, "required made optional")];

const opened: Maker = ({ pointer, keyword }) => [put(pointer, `${keyword} opened`, true)];

const branches: Maker = ({ pointer, value }) =>
  (value as unknown[]).map((_branch, index) => remove(pointer + step(index), "oneOf branch removed"));

const conditions: Maker = ({ pointer, value }) => {
  const { properties = {}, required: names = [] } = value as {
    properties?: Record<string, { const?: unknown }>;
    required?: string[];
  };
  return [
    remove(pointer, "if removed"),
    ...Object.entries(properties).map(([name, schema]) =>
      put(`${pointer}/properties${step(name)}/const`, "if changed", `${schema.const}X`),
    ),
    ...names.map((_name, index) => remove(`${pointer}/required${step(index)}`, "if changed")),
    ...["then", "else"].map((name) => remove(pointer.replace(/if$/, name), `${name} removed`)),
  ];
};

const digits: Maker = ({ pointer, value }) => [
  remove(pointer, "x-fraction-digits removed"),
  ...[-1, 1].map((by) => put(pointer, "x-fraction-digits changed", Number(value) + by)),
];

const scopes: Maker = ({ pointer, value }) => [
  remove(pointer, "scope removed"),
  put(pointer, "scope changed", value === "refunds" ? "webhooks" : "refunds"),
];

const security: Maker = ({ pointer }) => [
  remove(pointer, "security removed"),
  mutant(pointer, "security made optional", (holder) => void (holder as unknown as unknown[]).push({})),
];

const mediaTypes: Maker = ({ pointer, value }) => [
  mutant(pointer, "media type added", (holder, name) => {
    const content = holder[name] as Record<string, unknown>;
    content["text/plain"] = Object.values(content)[0];
  }),
  ...(value as string[]).flatMap((type) => [
    remove(pointer + step(type), "media type removed"),
    mutant(pointer + step(type), "media type renamed", (holder, name) => {
      holder["application/xml"] = holder[name];
      delete holder[name];
    }),
    remove(`${pointer}${step(type)}/schema`, "schema of a media type removed"),
  ]),
];

const status: Maker = ({ pointer }) => [
  remove(pointer, "status removed"),
  mutant(pointer, "status renamed", (holder, name) => {
    holder[name === "default" ? "5XX" : "418"] = holder[name];
    delete holder[name];
  }),
];

const MAKERS: Readonly<Record<string, Maker>> = {
  type: types,
  enum: values,
  "x-extensible-enum": values,
  const: constant,
  minLength: bound(-1),
  minItems: bound(-1),
  minimum: bound(-1),
  maxLength: bound(1),
  maxItems: bound(1),
  maximum: bound(1),
  exclusiveMinimum,
  pattern: patterns,
  format: formats,
  required,
  dependentRequired: removal,
  additionalProperties: opened,
  oneOf: branches,
  if: conditions,
  not: removal,
  "x-fraction-digits": digits,
  security,
  scope: scopes,
  requestBody: required,
  content: mediaTypes,
  status,
};
