import type { Node } from "./document-node.ts";

/*
 * For each keyword of JSON Schema: functions that make texts of JSON to test it with. For `maxLength: 3`, `textsOfLength(0)` makes texts of
 * three characters, which obey it, and `textsOfLength(1)` texts of four, which break it.
 */

/** A keyword's value, the schema that holds it, and the location in a valid message that it limits. */
export type Occurrence = {
  /** The value of the keyword: a bound, a list of values, the name of a required member. */
  readonly value: unknown;
  readonly schema: Node;
  /** The valid value at the location. */
  readonly current: unknown;
  /** Values that the document allows at this location elsewhere. */
  readonly others: readonly unknown[];
};

/**
 * JSON texts to put at a location, because some differences exist in the text only: `1.00` and `1`. Other keywords of the schema may
 * decide otherwise about some of them, so callers ask a validator which to keep.
 */
export type Values = (occurrence: Occurrence) => string[];

const toTexts = (values: readonly unknown[]): string[] => values.map((value) => JSON.stringify(value));

export const itself: Values = ({ current }) => toTexts([current]);
export const constantValue: Values = ({ value }) => toTexts([value]);
export const listedValues: Values = ({ value }) => toTexts(value as unknown[]);

/** One value of each type, the value itself as a string or in a list, and the only item of a list without the list. */
export const otherTypes: Values = ({ current }) => [
  ...["null", "true", "7", "7.5", '"x"', "[]", "{}"],
  ...toTexts(Array.isArray(current) ? current.slice(0, 1) : [String(current)]),
  ...toTexts(typeof current === "string" ? [[current]] : []),
];

/** Other spellings of the allowed values, numbers close to them, and what other messages have at this location. */
export const nearMisses: Values = ({ value, others }) => {
  const allowed = [value].flat();
  const numbers = allowed.filter((entry) => typeof entry === "number");
  const words = allowed
    .map(String)
    .flatMap((word) => [
      ...[word.toLowerCase(), word.toUpperCase(), `${word} `, ` ${word}`, `${word}S`],
      ...[word.slice(0, -1), word.replace(/[._]/, "-")],
    ]);
  const near = numbers.flatMap((number) => [number + 1, number - 1, String(number)]);
  return toTexts([...near, ...words, "", "OTHER", "EUR", ...others]);
};

/** The characters of long strings: one code unit, two code units, two bytes of UTF-8 in one unit. */
const FILLERS = ["x", "😀", "é"];

/** Strings whose length in code points differs from the bound by `by`; longer ones begin like the valid value. */
export const textsOfLength =
  (by: number): Values =>
  ({ value, current }) => {
    const length = Number(value) + by;
    const begin = [...String(current)];
    const kept = length > begin.length ? begin : [];
    const texts = FILLERS.map((filler) => kept.join("") + filler.repeat(Math.max(0, length - kept.length)));
    return length < 0 ? [] : toTexts(texts);
  };

/** Characters that a pattern may forbid, one of each class, and those next to the ranges of ASCII. */
const CHARACTERS = [
  ...["\u0000", "\u001F", "\u007F", "\n", "\r", "\t", " ", "\u00A0", "\u2028", "z", "Z", "9", "/", ":", "@"],
  ...["[", "`", "{", "-", "_", '"', "\\", "é", "e\u0301", "\u017F", "\u0663", "\uFF21", "\uFEFF", "😀"],
];

/** A URL is also tried with another end of its host, and without one. */
export const aroundText: Values = ({ current }) => {
  const [origin, scheme] = /^(\w+:\/\/)[^/]+/.exec(String(current)) ?? [];
  const urls = scheme === undefined ? [] : [`${origin}#x`, `${scheme}?x`];
  return toTexts([...CHARACTERS.flatMap((character) => [character + current, current + character]), ...urls]);
};

/** The scheme of a URL restricts more than its format. */
export const insideText: Values = ({ current, schema }) =>
  toTexts([
    ...CHARACTERS.map((character) => (schema.format === undefined ? character : "") + current + character),
    ...(schema.format === undefined ? [""] : []),
  ]);

/** Strings that match a format, and strings that almost do. */
export const FORMAT_SAMPLES: Readonly<Record<string, { obeying: string[]; breaking: string[] }>> = {
  uri: {
    obeying: [
      ...["https://merchant.example.com", "https://merchant.example.com:8443/webhooks"],
      ...["https://merchant.example.com/a%20b/c;d=e,f/~g?h=i&j=%2F#k", "HTTPS://MERCHANT.EXAMPLE.COM/"],
      "https://xn--bcher-kva.example/",
    ],
    breaking: [
      ...["merchant.example.com/webhooks", "//merchant.example.com/webhooks", "/webhooks"],
      ...["https//merchant.example.com/", "https://merchant.example.com/a b", "https://[::1/webhooks"],
      ...["https://merchant.example.com/%zz", "https://merchant.example.com/<a>"],
      ...["https://merchant.example.com/é", "https://merchant.example.com/\n"],
      ...[" https://merchant.example.com/", "1https://merchant.example.com/"],
    ],
  },
  "date-time": {
    obeying: ["2026-11-24T15:30:00Z", "2026-11-20T14:30:00.123Z", "2026-11-20T09:30:00-05:00"],
    breaking: [
      ...["2026-11-25", "14:30:00Z", "2026-11-25T14:30:00", "2026-13-25T14:30:00Z", "1764081000"],
      ...["2026-02-30T14:30:00Z", "2026-11-25T25:30:00Z", "Wed, 25 Nov 2026 14:30:00 GMT"],
    ],
  },
  duration: {
    obeying: ["PT30M", "P1D", "P1W", "PT1H30M"],
    breaking: ["30M", "P", "PT", "1 day", "P1.5D", "-P1D", "PT1H30", "P1D2W"],
  },
};

export const formatSamples =
  (kind: "obeying" | "breaking"): Values =>
  ({ value }) =>
    toTexts(FORMAT_SAMPLES[String(value)]?.[kind] ?? []);

/** Numbers beyond the bound by these multiples of the schema's smallest step. */
export const stepsBeyond =
  (...steps: readonly number[]): Values =>
  ({ value, schema }) => {
    const digits = Number(schema["x-fraction-digits"] ?? 0);
    return steps.map((by) => fromUnits(Math.round(Number(value) * 10 ** digits) + by, digits));
  };

/** A number as people write it, with `digits` after the point: amounts reach 9999999999.99, which `toFixed` would round. */
function fromUnits(units: number, digits: number): string {
  const text = String(Math.abs(units)).padStart(digits + 1, "0");
  const sign = units < 0 ? "-" : "";
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

export const enoughDigits: Values = ({ value }) => {
  const digits = Number(value);
  const decimals = Array.from({ length: digits }, (_digit, index) => `1.${"0".repeat(index + 1)}`);
  return ["1", ...decimals, "1E+0", "0.1e1", `1${"0".repeat(digits)}e-${digits}`];
};

/** Numbers of the right size with too many digits after the point once they are written out. */
export const tooManyDigits: Values = ({ value }) => {
  const zeros = "0".repeat(Number(value));
  return [
    ...[`1.${zeros}0`, `1.${zeros}1`, `1.${"9".repeat(18)}`, `1.${zeros}${"0".repeat(18)}1`],
    ...[`1${zeros}0e-${zeros.length + 1}`, `1.${zeros}0E+0`, `1.${zeros}00e1`],
  ];
};

/** Lists with `by` items more than the bound: of the present items, and of all valid ones, which repeat as needed. */
export const listsOfLength =
  (by: number): Values =>
  ({ value, current, others }) => {
    const length = Number(value) + by;
    const present = current as unknown[];
    if (length < 0) return [];
    return [present, [...new Set([...present, ...others])]].map((items) =>
      JSON.stringify(Array.from({ length }, (_item, index) => items[index % items.length])),
    );
  };

export const sameItems: Values = ({ current }) => {
  const [first] = current as unknown[];
  return toTexts([[first, first]]);
};

const membersOf = (current: unknown) => Object.entries(current as object);

export const withoutMember: Values = ({ value, current }) =>
  toTexts([Object.fromEntries(membersOf(current).filter(([name]) => name !== value))]);

/** The object with one more member, whose name is similar to another or made up; and an object of that member alone. */
export const withUnknownMember: Values = ({ current }) => {
  const similar = membersOf(current).flatMap(([name]) => [name.toUpperCase(), `${name}s`, `${name} `]);
  const names = [...similar, "unknown", "status", "merchantId", "a/b~c", "constructor", ""];
  return names.flatMap((name) => toTexts([{ ...(current as object), [name]: "x" }, { [name]: "x" }]));
};

export const fewerMembers: Values = ({ value, current }) =>
  toTexts([Object.fromEntries(membersOf(current).slice(0, Number(value) - 1))]);

export const moreMembers: Values = ({ current, others }) => toTexts([Object.assign({}, current, ...others)]);

/** An object of a union without its tag, and with tags that name no branch. */
export const wrongTags: Values = ({ schema, current, others }) => {
  const tag = String((schema.discriminator as Node | undefined)?.propertyName);
  const { [tag]: present, ...rest } = current as Node;
  const tags = nearMisses({ value: present, schema, current: present, others });
  return [JSON.stringify(rest), ...tags.map((text) => JSON.stringify({ ...rest, [tag]: JSON.parse(text) }))];
};

/** A value as JSON, cut after some characters. */
export function shorten(value: unknown, length = 80): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
