import { membersOf, type Node } from "./document.ts";
import * as facts from "./facts.ts";
import { type Facts, GOAL, memberParts } from "./facts.ts";
import { isSame, referred, saysTheSame } from "./schema.ts";
import { isValid } from "./values.ts";

export const TYPES = ["null", "boolean", "integer", "fraction", "string", "array", "object"] as const;
export type Type = (typeof TYPES)[number];

export const includesType = (types: unknown, type: Type) =>
  [types].flat().some((one) => one === type || (one === "number" && ["integer", "fraction"].includes(type)));
export function typeOf(value: unknown): Type {
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "fraction";
  return value === null ? "null" : Array.isArray(value) ? "array" : (typeof value as Type);
}
export const has = (name: string) => ({ required: [name] });
export const lacks = (name: string) => ({ properties: { [name]: false } });

/** The type whose values a keyword limits; other keywords limit any. */
export const RANGES: Readonly<Record<string, Type>> = Object.fromEntries([
  ...ofType("integer", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf x-fraction-digits"),
  ...ofType("string", "minLength maxLength pattern"),
  ...ofType("array", "minItems maxItems uniqueItems items prefixItems unevaluatedItems contains"),
  ...ofType("object", "required properties patternProperties additionalProperties unevaluatedProperties"),
  ...ofType("object", "propertyNames minProperties maxProperties dependentRequired dependentSchemas"),
]);
function ofType(type: Type, keywords: string) {
  return keywords.split(" ").map((keyword) => [keyword, type] as const);
}

/** What is known of a value that violates a bound: another bound, so much away. */
const FLIPPED: Readonly<Record<string, readonly [keyword: string, by: number]>> = {
  ...{ minimum: ["exclusiveMaximum", 0], maximum: ["exclusiveMinimum", 0] },
  ...{ exclusiveMinimum: ["maximum", 0], exclusiveMaximum: ["minimum", 0] },
  ...{ minLength: ["maxLength", -1], maxLength: ["minLength", 1], minItems: ["maxItems", -1] },
  ...{ maxItems: ["minItems", 1], minProperties: ["maxProperties", -1], maxProperties: ["minProperties", 1] },
};

/** The ways in which a value of a type can violate a schema, each as a schema that holds then. */
export function violationsOf(
  known: Facts,
  type: Type,
  node: Node,
  isGoal: boolean,
  isRefuted: (part: unknown) => boolean,
): unknown[] {
  const { names, patterns, items } = facts.mentioned(known);
  const no = (part: unknown) => ({ [isGoal ? GOAL : "not"]: part });
  const isSaid = (...keywords: string[]) =>
    [...known.leaves].some((leaf) => saysTheSame(leaf, node, ...keywords));
  const isKnown = (parts: readonly unknown[], part: unknown) =>
    parts.some((one) => one === false || isSame(one, part));
  const member = (name: string, part: unknown) =>
    part === true || isKnown(memberParts(known, name), part)
      ? []
      : [{ ...has(name), properties: { [name]: no(part) } }];
  const item = (index: number, part: unknown) =>
    part === true || isKnown(facts.itemParts(known, index), part)
      ? []
      : [{ minItems: index + 1, prefixItems: [...Array(index).fill(true), no(part)] }];
  const itemsFrom = (from: number, part: unknown) =>
    Array.from({ length: Math.max(1, items + 1 - from) }, (_, index) => item(from + index, part)).flat();
  const others = ["", ...patterns].map((pattern) => facts.otherName(names, pattern));
  const membersBut = (own: readonly string[], ownPatterns: readonly string[], part: unknown) =>
    [...names, ...others]
      .filter((name) => !own.includes(name) && !ownPatterns.some((one) => facts.matches(one, name)))
      .flatMap((name) => member(name, part));
  const violations = (keyword: string): unknown[] => {
    const value = node[keyword];
    const list = value as unknown[];
    const range = RANGES[keyword] ?? type;
    if (range !== type && !(range === "integer" && type === "fraction")) return [];
    const flipped = FLIPPED[keyword];
    if (flipped) return [{ [flipped[0]]: Number(value) + flipped[1] }];
    switch (keyword) {
      case "then":
      case "else":
      case "minContains":
      case "maxContains":
        return []; // they belong to `if` and `contains`
      case "type":
        return includesType(value, type) ? [] : [true];
      case "$ref": {
        const target = referred(value);
        return [target ? no(target.schema) : { "!$ref": value }];
      }
      case "not":
        return isSaid("not") ? [] : [value];
      case "allOf":
        return list.map(no);
      case "anyOf":
        return isSaid("anyOf") ? [] : [{ allOf: list.map(no) }];
      case "oneOf": {
        const pairs = list.flatMap((one, index) =>
          list.slice(index + 1).map((other) => ({ allOf: [one, other] })),
        );
        return isSaid("oneOf") ? [] : [{ allOf: list.map(no) }, ...pairs];
      }
      case "if": {
        const { then = true, else: other = true } = node;
        return isSaid("if", "then", "else")
          ? []
          : [{ allOf: [value, no(then)] }, { not: value, allOf: [no(other)] }];
      }
      case "uniqueItems":
        return [{ "!uniqueItems": value, minItems: 2 }];
      case "prefixItems":
        return list.flatMap((part, index) => item(index, part));
      case "items":
        return itemsFrom(membersOf({ ...(node.prefixItems as object) }).length, value);
      case "unevaluatedItems": {
        const from = facts.surelyNamed(node).items;
        return from === Number.MAX_SAFE_INTEGER ? [] : itemsFrom(from, value);
      }
      case "contains": {
        const { minContains = 1, maxContains } = node;
        const few = { contains: value, minContains: 0, maxContains: Number(minContains) - 1 };
        const many = { contains: value, minContains: Number(maxContains) + 1 };
        return [...(Number(minContains) > 0 ? [few] : []), ...(maxContains === undefined ? [] : [many])];
      }
      case "required":
        return (list as string[]).map(lacks);
      case "properties":
        return membersOf(value).flatMap(([name, part]) =>
          isGoal && facts.isUndeclared(known, name) && !isRefuted(part) ? [] : member(name, part),
        );
      case "patternProperties":
        return membersOf(value).flatMap(([pattern, part]) =>
          [...names, ...others]
            .filter((name) => facts.matches(pattern, name) !== false)
            .flatMap((name) => member(name, part)),
        );
      case "additionalProperties": {
        const [own, ownPatterns] = [node.properties, node.patternProperties].map((one) =>
          Object.keys(one ?? {}),
        );
        return membersBut(own ?? [], ownPatterns ?? [], value);
      }
      case "unevaluatedProperties": {
        const surely = facts.surelyNamed(node);
        return surely.isAll ? [] : membersBut(surely.names, surely.patterns, value);
      }
      case "propertyNames": {
        const wrong = names
          .filter((name) => !name.startsWith("\0") && isValid(name, value) !== true)
          .map(has);
        return [...wrong, ...others.map((name) => ({ ...has(name), "!name": { [name]: value } }))];
      }
      case "dependentRequired":
        return membersOf(value).flatMap(([name, needed]) =>
          (needed as string[]).map((one) => ({ ...has(name), ...lacks(one) })),
        );
      case "dependentSchemas":
        return membersOf(value).map(([name, part]) => ({ ...has(name), allOf: [no(part)] }));
      default:
        return [{ [`!${keyword}`]: value }];
    }
  };
  return Object.keys(node).filter(facts.limits).flatMap(violations);
}
