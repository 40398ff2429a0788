import { GONE, raw } from "./row.ts";

/*
 * Values at the limits of a rule, and just beyond them. Labels complete the sentence "<member> …".
 */

export const NOT_A_NUMBER: Readonly<Record<string, unknown>> = {
  "is null": null,
  "is a text": "1",
  "is a text with decimals": "10.00",
  "is true": true,
  "is a list": [1],
  "is an object": {},
};

export const NOT_AN_OBJECT: Readonly<Record<string, unknown>> = {
  ...{ "is null": null, "is a text": "x", "is a number": 7, "is true": true, "is a list": [] },
};

export const MISSING = { "is missing": GONE };

/** Characters that the contract's pattern forbids in every string. */
export const NUL_CHARACTERS: Readonly<Record<string, string>> = {
  "is U+0000": "\u0000",
  "holds U+0000 after a line feed": "a\n\u0000",
};

/**
 * Other characters that are forbidden in every string; no pattern excludes them, because none would compile in every
 * language.
 */
export const LONE_SURROGATES: Readonly<Record<string, string>> = {
  "is the first high surrogate": "\uD800",
  "is the last low surrogate": "\uDFFF",
  "holds a lone high surrogate": "a\uDBFFb",
  "holds a lone low surrogate": "a\uDC00b",
  "holds surrogates in the wrong order": "\uDC00\uD800",
};

/** Characters next to the forbidden ones, and others that careless programs mishandle. */
export const ODD_CHARACTERS = '\u0001\n\r\t\u007F é\u2028\uD7FF\uE000\uFEFF\uFFFD😀\u{10FFFF}"\\';

/** Well-formed strings that careless programs execute, print or look up in a special way. */
export const NAUGHTY_TEXTS = [
  "../../etc/passwd",
  "' or 1=1; drop table payments --",
  "😀",
  "%s%n",
  "#{7*7}",
  "pay_settled ",
  "PAY_SETTLED",
];

export const literals = (...texts: string[]) =>
  Object.fromEntries(texts.map((text) => [`is written ${text}`, raw(text)]));
