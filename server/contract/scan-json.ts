import { toPointer } from "../../openapi/document/pointer.ts";

/**
 * Finds what `JSON.parse` hides or can't handle, in one pass and without recursion: duplicate keys (the last would win
 * silently), nesting beyond 32 levels, how numbers are written (D13), and more members than any valid body has, each of which
 * would cost the validation time (D31). Text that is not JSON passes, because the parser refuses it afterwards.
 */
export function scanJson(text: string): ScannedJson {
  const scan: Scan = { text, position: 0, open: [], literals: [], keys: 0, values: -1 };
  while (scan.position < text.length) {
    const error = readToken(scan);
    if (error) return { error, literals: scan.literals };
    if (scan.values > MAX_MEMBERS || scan.keys > MAX_MEMBERS)
      return { error: tooMany, literals: scan.literals };
  }
  return { literals: scan.literals };
}

/** Levels of nesting that a body may have (D15). */
const MAX_DEPTH = 32;
/** Members and items of all objects and lists of a body together (D31). */
export const MAX_MEMBERS = 128;
/** Code points of the name of a member (D31). */
export const MAX_NAME_LENGTH = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;

/** Why a text is refused before it is parsed: parsing would hide the reason. */
export type RawError = { pointer: string; message: string };

/** A number that is not a plain integer, exactly as the text has it. */
export type NumberLiteral = {
  /** The names and indexes that lead to it. */
  path: readonly (string | number)[];
  /** Such as `10.990000000000000001`, which parses as 10.99. */
  text: string;
};

export type ScannedJson = {
  error?: RawError;
  /** Every number that is not written with digits only. */
  literals: NumberLiteral[];
};

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const INTEGER = /^\d+$/;
/** `true`, `false` and `null`, and whatever the parser refuses in their place. */
const WORD = /[a-z]+/iy;
const SPACES = /[ \t\n\r]+/y;

/** An object or a list that is still open, and the member that is being read. */
type Level = { keys: Set<string> | undefined; key: string | number };

/** How far the scan of a text has come. */
type Scan = {
  readonly text: string;
  position: number;
  readonly open: Level[];
  readonly literals: NumberLiteral[];
  /** The numbers of keys, and of values below the outermost one, which are as many as members and items. */
  keys: number;
  values: number;
};

const tooDeep: RawError = {
  pointer: "",
  message: `is nested too deeply; at most ${MAX_DEPTH} levels are allowed`,
};

const tooMany: RawError = {
  pointer: "",
  message: `has too many fields and list items; at most ${MAX_MEMBERS} in all are allowed`,
};

function readToken(scan: Scan): RawError | undefined {
  const { text, position, open } = scan;
  const character = text.charCodeAt(position);
  if (character === QUOTE) return readString(scan);
  scan.position += 1;
  if (character === OPEN_OBJECT || character === OPEN_ARRAY) {
    scan.values += 1;
    open.push({ keys: character === OPEN_OBJECT ? new Set() : undefined, key: 0 });
    return open.length > MAX_DEPTH ? tooDeep : undefined;
  }
  if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) open.pop();
  else if (character === COMMA) nextItem(open.at(-1));
  else if (character !== COLON && !skip(SPACES, scan, position)) readScalar(scan, position);
  return undefined;
}

function nextItem(top: Level | undefined): void {
  if (typeof top?.key === "number") top.key += 1;
}

function readString(scan: Scan): RawError | undefined {
  const { text, position: start, open } = scan;
  scan.position = endOfString(text, start);
  const end = scan.position;
  skip(SPACES, scan, end);
  if (text.charCodeAt(scan.position) !== COLON) {
    scan.values += 1;
    return undefined;
  }
  scan.keys += 1;
  return enterMember(open, text.slice(start, end));
}

/** Notes the key of the member that begins; returns an error when the object has that key already. */
function enterMember(open: readonly Level[], literal: string): RawError | undefined {
  const top = open.at(-1);
  if (!top?.keys) return undefined;
  const key = unescapeKey(literal);
  if (key.length > MAX_NAME_LENGTH && [...key].length > MAX_NAME_LENGTH) {
    const message = `holds a field with a name of more than ${MAX_NAME_LENGTH} characters; remove it`;
    return { pointer: toPointer(pathOf(open.slice(0, -1))), message };
  }
  top.key = key;
  if (top.keys.has(key))
    return { pointer: toPointer(pathOf(open)), message: "occurs twice; send it only once" };
  top.keys.add(key);
  return undefined;
}

/** Reads a number or a word. Anything else is not JSON, and its rest is left to the parser. */
function readScalar(scan: Scan, start: number): void {
  const { text, open, literals } = scan;
  scan.values += 1;
  if (skip(NUMBER, scan, start)) {
    const literal = text.slice(start, scan.position);
    if (!INTEGER.test(literal)) literals.push({ path: pathOf(open), text: literal });
  } else if (!skip(WORD, scan, start)) scan.position = text.length;
}

/** Moves past a token that begins at `start`; returns false when none does. */
function skip(token: RegExp, scan: Scan, start: number): boolean {
  token.lastIndex = start;
  if (!token.test(scan.text)) return false;
  scan.position = token.lastIndex;
  return true;
}

function pathOf(open: readonly Level[]): (string | number)[] {
  return open.map(({ key }) => key);
}

/** The position after the closing quote of the string that opens at `start`: the first quote that is not escaped. */
function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote === -1 ? text.length : quote + 1;
}

function isEscaped(text: string, position: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(position - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
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
