/** Levels of nesting that a body may have (D15). */
const MAX_DEPTH = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** A fault of the text that parsing would hide. */
export interface RawFault {
  pointer: string;
  message: string;
}

/**
 * Finds what `JSON.parse` hides or chokes on, in one pass over the bytes and without recursion: duplicate keys (the last
 * would win silently) and nesting beyond 32 levels. Text that is not JSON passes; the parser refuses it afterwards.
 */
export function findRawFault(text: string): RawFault | undefined {
  const open: { keys: Set<string> | undefined; key: string | number }[] = [];
  let position = 0;
  while (position < text.length) {
    const character = text.charCodeAt(position);
    if (character === QUOTE) {
      const end = endOfString(text, position);
      const top = open.at(-1);
      if (top?.keys && isKey(text, end)) {
        const key = unescapeKey(text.slice(position, end));
        top.key = key;
        if (top.keys.has(key)) {
          return {
            pointer: toPointer(open.map((level) => level.key)),
            message: "stands twice; send it once",
          };
        }
        top.keys.add(key);
      }
      position = end;
      continue;
    }
    if (character === OPEN_OBJECT || character === OPEN_ARRAY) {
      open.push({ keys: character === OPEN_OBJECT ? new Set() : undefined, key: 0 });
      if (open.length > MAX_DEPTH) {
        return { pointer: "", message: `is nested too deeply; at most ${MAX_DEPTH} levels are read` };
      }
    } else if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) {
      open.pop();
    } else if (character === 0x2c) {
      const top = open.at(-1);
      if (typeof top?.key === "number") top.key += 1;
    }
    position += 1;
  }
  return undefined;
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

/** Two spellings of one key, one with escapes, are the same key. */
function unescapeKey(literal: string): string {
  if (!literal.includes("\\")) return literal.slice(1, -1);
  try {
    return JSON.parse(literal);
  } catch {
    return literal;
  }
}

/** Writes a JSON Pointer (RFC 6901). */
export function toPointer(names: readonly (string | number)[]): string {
  return names.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
