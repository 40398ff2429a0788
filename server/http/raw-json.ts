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

/** A fault of the text that parsing would hide. */
export interface RawFault {
  pointer: string;
  message: string;
}

/** What a body's text tells before it is parsed. */
export interface RawJson {
  fault?: RawFault;
  /** Whether a number is written otherwise than with digits and up to two decimals. */
  hasOddNumber: boolean;
}

/** A number from its first character on, to where one that is written plainly ends. */
const PLAIN_NUMBER = /\d+(\.\d{1,2})?(?![\d.eE])/y;

/**
 * Finds what `JSON.parse` hides or chokes on, in one pass over the bytes and without recursion: duplicate keys (the last
 * would win silently) and nesting beyond 32 levels. Text that is not JSON passes; the parser refuses it afterwards.
 */
export function scanJson(text: string): RawJson {
  let hasOddNumber = false;
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
          const pointer = toPointer(open.map((level) => level.key));
          return { fault: { pointer, message: "stands twice; send it once" }, hasOddNumber };
        }
        top.keys.add(key);
      }
      position = end;
      continue;
    }
    if (character === OPEN_OBJECT || character === OPEN_ARRAY) {
      open.push({ keys: character === OPEN_OBJECT ? new Set() : undefined, key: 0 });
      if (open.length > MAX_DEPTH) {
        const message = `is nested too deeply; at most ${MAX_DEPTH} levels are read`;
        return { fault: { pointer: "", message }, hasOddNumber };
      }
    } else if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) {
      open.pop();
    } else if (character === 0x2c) {
      const top = open.at(-1);
      if (typeof top?.key === "number") top.key += 1;
    } else if (!hasOddNumber && (character === MINUS || (character >= ZERO && character <= NINE))) {
      PLAIN_NUMBER.lastIndex = position;
      if (PLAIN_NUMBER.test(text)) {
        position = PLAIN_NUMBER.lastIndex;
        continue;
      }
      hasOddNumber = true;
    }
    position += 1;
  }
  return { hasOddNumber };
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
