import { toPointer } from "./pointer.ts";

/** Levels of nesting that a body may have (D15). */
const MAX_DEPTH = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const COMMA = 0x2c;

/** Why a text is refused before it is parsed: parsing would hide the reason. */
export interface RawError {
  pointer: string;
  message: string;
}

/** A number that is not a plain integer, exactly as the text has it. */
export interface NumberLiteral {
  /** The names and indexes that lead to it. */
  path: readonly (string | number)[];
  /** Such as `10.990000000000000001`, which parses as 10.99. */
  text: string;
}

export interface ScannedJson {
  error?: RawError;
  /** Every number that is not written with digits only. */
  literals: NumberLiteral[];
}

const INTEGER = /\d+(?![\d.eE])/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** An object or a list that is still open, and the member that is being read. */
interface Level {
  keys: Set<string> | undefined;
  key: string | number;
}

/**
 * Finds what `JSON.parse` hides or can't handle, in one pass and without recursion: duplicate keys (the last would win
 * silently), nesting beyond 32 levels, and how numbers are written (D13). Text that is not JSON passes, because the parser
 * refuses it afterwards.
 */
export function scanJson(text: string): ScannedJson {
  const literals: NumberLiteral[] = [];
  const open: Level[] = [];
  let position = 0;
  while (position < text.length) {
    const character = text.charCodeAt(position);
    if (character === QUOTE) {
      const end = endOfString(text, position);
      const error = isKey(text, end) ? enterMember(open, unescapeKey(text.slice(position, end))) : undefined;
      if (error) return { error, literals };
      position = end;
      continue;
    }
    if (character === MINUS || (character >= ZERO && character <= NINE)) {
      position = readNumber(text, position, open, literals);
      continue;
    }
    if (character === OPEN_OBJECT || character === OPEN_ARRAY) {
      open.push({ keys: character === OPEN_OBJECT ? new Set() : undefined, key: 0 });
      if (open.length > MAX_DEPTH) return { error: tooDeep, literals };
    } else if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) {
      open.pop();
    } else if (character === COMMA) {
      const top = open.at(-1);
      if (typeof top?.key === "number") top.key += 1;
    }
    position += 1;
  }
  return { literals };
}

const tooDeep: RawError = {
  pointer: "",
  message: `is nested too deeply; at most ${MAX_DEPTH} levels are read`,
};

/** Notes the key of the member that begins; returns an error when the object has that key already. */
function enterMember(open: readonly Level[], key: string): RawError | undefined {
  const top = open.at(-1);
  if (!top?.keys) return undefined;
  top.key = key;
  if (top.keys.has(key)) return { pointer: toPointer(pathOf(open)), message: "stands twice; send it once" };
  top.keys.add(key);
  return undefined;
}

/** Keeps a number that is no plain integer; returns the position after it. */
function readNumber(text: string, start: number, open: readonly Level[], literals: NumberLiteral[]): number {
  INTEGER.lastIndex = start;
  if (INTEGER.test(text)) return INTEGER.lastIndex;
  NUMBER.lastIndex = start;
  const literal = NUMBER.exec(text)?.[0];
  if (literal === undefined) return start + 1; // not JSON
  literals.push({ path: pathOf(open), text: literal });
  return start + literal.length;
}

function pathOf(open: readonly Level[]): (string | number)[] {
  return open.map(({ key }) => key);
}

/** The position after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let position = start + 1;
  while (position < text.length) {
    const character = text.charCodeAt(position);
    if (character === QUOTE) return position + 1;
    position += character === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

function isKey(text: string, afterString: number): boolean {
  let position = afterString;
  while (position < text.length && text.charCodeAt(position) <= 0x20) position += 1;
  return text.charCodeAt(position) === COLON;
}

/** A key written with escapes and the same key written without are one key. */
function unescapeKey(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return JSON.parse(literal);
  } catch {
    return literal;
  }
}
