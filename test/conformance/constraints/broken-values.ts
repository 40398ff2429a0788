import type { Constraint } from "./constraint.ts";
import { beyond } from "./numbers.ts";
import { CHARACTER_SAMPLES, FILLERS, FORMAT_SAMPLES, TYPE_SAMPLES } from "./samples.ts";

/** A value for the place of a constraint, as JSON text. */
export type Value = { readonly name: string; readonly json: string };

/** The place of a value, and its valid values. */
export type Spot = {
  readonly constraint: Constraint;
  /** The value in a valid body. */
  readonly current: unknown;
  /** Values that the document allows elsewhere at this place. */
  readonly others: readonly unknown[];
};

/**
 * Values that may violate a constraint; those that turn out not to, or that violate another place too, are filtered out
 * later.
 */
export function brokenValues(spot: Spot): Value[] {
  const { constraint, current } = spot;
  const bound = Number(constraint.value);
  switch (constraint.keyword) {
    case "type":
      return ofOtherTypes(spot);
    case "enum":
    case "const":
    case "oneOf":
      return nearMisses(spot);
    case "minLength":
      return bound === 0 ? [] : FILLERS.map((filler) => ofLength(String(current), bound - 1, filler));
    case "maxLength":
      return FILLERS.map((filler) => ofLength(String(current), bound + 1, filler));
    case "pattern":
      return withCharacters(String(current));
    case "format":
      return (FORMAT_SAMPLES[String(constraint.value)]?.broken ?? []).map(toValue);
    case "minimum":
      return [{ name: "one step too small", json: beyond(constraint, -1n) }];
    case "maximum":
      return [{ name: "one step too large", json: beyond(constraint, 1n) }];
    case "exclusiveMinimum":
      return [0n, -1n].map((steps) => ({ name: `${steps} from the bound`, json: beyond(constraint, steps) }));
    case "exclusiveMaximum":
      return [0n, 1n].map((steps) => ({ name: `${steps} from the bound`, json: beyond(constraint, steps) }));
    case "x-fraction-digits":
      return wrongDigits(bound);
    case "minItems":
      return bound === 0 ? [] : ofItems(spot, bound - 1);
    case "maxItems":
      return ofItems(spot, bound + 1);
    case "uniqueItems":
      return ofItems({ current: (spot.current as unknown[]).slice(0, 1), constraint, others: [] }, 2);
    default:
      return [];
  }
}

/** A string of the given number of code points that begins like the given one. */
export function ofLength(text: string, length: number, filler: string): Value {
  const points = [...text].slice(0, length);
  const json = JSON.stringify(points.join("") + filler.repeat(length - points.length));
  const name =
    length > points.length ? `${length} characters, filled with ${filler}` : `${length} characters`;
  return { name, json };
}

/**
 * Lists of the given length, whose items repeat if there are too few: one of the present items, and one of all valid items.
 */
export function ofItems({ current, others }: Spot, length: number): Value[] {
  const own = current as unknown[];
  return [own, [...new Set([...own, ...others])]].map((items) => ({
    name: `${length} items`,
    json: JSON.stringify(Array.from({ length }, (_item, index) => items[index % items.length])),
  }));
}

/** A string with each sample character before it, and after it. */
function withCharacters(text: string): Value[] {
  return CHARACTER_SAMPLES.flatMap(([name, character]) => [
    { name: `${name} first`, json: JSON.stringify(character + text) },
    { name: `${name} last`, json: JSON.stringify(text + character) },
  ]);
}

export function toValue(value: unknown): Value {
  const json = JSON.stringify(value);
  return { name: json.length > 60 ? `${json.slice(0, 60)}…` : json, json };
}

/** A value of each other type, the value itself as a string, and the only item of a list without the list. */
function ofOtherTypes({ current }: Spot): Value[] {
  const likely = Array.isArray(current) ? current.slice(0, 1) : [String(current)];
  const wrapped = typeof current === "string" ? [[current]] : [];
  return [
    ...TYPE_SAMPLES.map(([type, json]) => ({ name: type, json })),
    ...[...likely, ...wrapped].map(toValue),
  ];
}

function nearMisses({ constraint, others }: Spot): Value[] {
  const listed = constraint.keyword === "enum" ? (constraint.value as unknown[]) : [constraint.value];
  const allowed = listed.map(String);
  // A number close to the value, and a listed number as a string.
  const numbers = listed.filter((value) => typeof value === "number");
  const nearNumbers = numbers.flatMap((value) => [value + 1, value - 1, String(value)]);
  const words = allowed.flatMap((word) => [
    word.toLowerCase(),
    word.toUpperCase(),
    `${word} `,
    ` ${word}`,
    `${word}S`,
    word.slice(0, -1),
    word.replace(/[._]/, "-"),
  ]);
  return [...nearNumbers, ...words, "", "OTHER", "EUR", ...others].map(toValue);
}

/** Numbers of the right size with too many digits after the point once they are written out. */
function wrongDigits(digits: number): Value[] {
  const zeros = "0".repeat(digits);
  return [
    `1.${zeros}0`,
    `1.${zeros}1`,
    `1.${"9".repeat(18)}`,
    `1.${zeros}${"0".repeat(18)}1`,
    `1${zeros}0e-${digits + 1}`,
    `1.${zeros}0E+0`,
    `1.${zeros}00e1`,
  ].map((json) => ({ name: json, json }));
}
