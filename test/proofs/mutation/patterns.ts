/** A regular expression with a small error. */
export type PatternChange = { readonly kind: string; readonly pattern: string };

/** A class such as `[A-Z0-9]` and the items in it, each a character or a range. */
const CLASS = /\[(\^?)((?:\\u[0-9A-F]{4}|\\x[0-9A-F]{2}|[^\]])+)\]/g;
const ITEM = /(\\u[0-9A-F]{4}|\\x[0-9A-F]{2}|[^\]])(?:-(\\u[0-9A-F]{4}|\\x[0-9A-F]{2}|[^\]]))?/g;

/** Patterns that differ from the given one in an anchor, a count, or an end of a class. */
export function changedPatterns(pattern: string): PatternChange[] {
  return [...anchors(pattern), ...counts(pattern), ...classes(pattern)].filter(
    (change) => change.pattern !== pattern,
  );
}

function anchors(pattern: string): PatternChange[] {
  return [
    { kind: "without its start", pattern: pattern.replace(/^\^/, "") },
    { kind: "without its end", pattern: pattern.replace(/\$$/, "") },
  ];
}

function counts(pattern: string): PatternChange[] {
  const repeats = [...pattern.matchAll(/\{(\d+)\}/g)].flatMap((found) =>
    [-1, 1].map((difference) => ({
      kind: "with another count",
      pattern: splice(pattern, found, `{${Number(found[1]) + difference}}`),
    })),
  );
  return [...repeats, { kind: "with another count", pattern: pattern.replace(/\*\$$/, "+$") }];
}

function classes(pattern: string): PatternChange[] {
  return [...pattern.matchAll(CLASS)].flatMap((found) => {
    const [, negated = "", items = ""] = found;
    const offset = found.index + 1 + negated.length;
    return [...items.matchAll(ITEM)].flatMap((item) =>
      changedItems(item).map(({ kind, text }) => {
        const changed = splice(items, item, text);
        const body = changed === "" ? [found.index, found[0].length] : [offset, items.length];
        const [start = 0, length = 0] = body;
        const replacement = changed === "" ? "[^]" : changed;
        return { kind, pattern: pattern.slice(0, start) + replacement + pattern.slice(start + length) };
      }),
    );
  });
}

/** Without the item, and with each end of it moved by one character. */
function changedItems([whole, from = "", to]: RegExpMatchArray): { kind: string; text: string }[] {
  const without = { kind: "with less in a class", text: "" };
  if (to === undefined) return [without];
  const ends = [-1, 1].flatMap((by) => [
    { kind: "with a class that ends elsewhere", text: `${move(from, by)}-${to}` },
    { kind: "with a class that ends elsewhere", text: `${from}-${move(to, by)}` },
  ]);
  return [without, ...ends].filter(({ text }) => text !== whole);
}

/** The character before or after; those with a meaning in a class are escaped. */
function move(character: string, by: number): string {
  const code = /^\\[ux]/.test(character) ? Number.parseInt(character.slice(2), 16) : character.charCodeAt(0);
  return `\\u${(code + by).toString(16).toUpperCase().padStart(4, "0")}`;
}

function splice(text: string, found: RegExpMatchArray, replacement: string): string {
  const start = found.index ?? 0;
  return text.slice(0, start) + replacement + text.slice(start + found[0].length);
}
