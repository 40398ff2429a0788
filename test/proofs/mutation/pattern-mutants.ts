/** A regular expression with a small error. */
export type PatternChange = { readonly kind: string; readonly pattern: string };

/** A class such as `[A-Z0-9]` and the items in it, each a character or a range. */
const CHARACTER = String.raw`(\\u[0-9A-F]{4}|\\x[0-9A-F]{2}|[^\]])`;
const CLASS = new RegExp(String.raw`\[(\^?)(${CHARACTER}+)\]`, "g");
const ITEM = new RegExp(`${CHARACTER}(?:-${CHARACTER})?`, "g");

/** Patterns that differ from the given one in an anchor, a count, or an end of a class. */
export function changedPatterns(pattern: string): PatternChange[] {
  const counts = [...pattern.matchAll(/\{(\d+)\}/g)].flatMap((found) =>
    [-1, 1].map((by) => splice(pattern, found.index, found[0].length, `{${Number(found[1]) + by}}`)),
  );
  const toChanges = (kind: string, ...patterns: readonly string[]) =>
    patterns.map((changed) => ({ kind, pattern: changed }));
  return [
    ...toChanges("without its start", pattern.replace(/^\^/, "")),
    ...toChanges("without its end", pattern.replace(/\$$/, "")),
    ...toChanges("with another count", ...counts, pattern.replace(/\*\$$/, "+$")),
    ...[...pattern.matchAll(CLASS)].flatMap((found) => inClass(pattern, found)),
  ].filter((change) => change.pattern !== pattern);
}

/** Without each item of a class, and with each end of it moved by one character. */
function inClass(pattern: string, { 0: whole, 1: negated = "", 2: items = "", index = 0 }: RegExpMatchArray) {
  return [...items.matchAll(ITEM)].flatMap(({ 0: item, 1: from = "", 2: to, index: at }) => {
    const change = (kind: string, text: string): PatternChange => {
      const left = splice(items, at, item.length, text);
      return {
        kind,
        pattern: splice(pattern, index, whole.length, left === "" ? "[^]" : `[${negated}${left}]`),
      };
    };
    const without = change("with less in a class", "");
    if (to === undefined) return [without];
    const moved = [-1, 1].flatMap((by) => [`${move(from, by)}-${to}`, `${from}-${move(to, by)}`]);
    return [without, ...moved.map((text) => change("with a class that ends elsewhere", text))];
  });
}

/** The character before or after; those with a meaning in a class are escaped. */
function move(character: string, by: number): string {
  const code = /^\\[ux]/.test(character) ? Number.parseInt(character.slice(2), 16) : character.charCodeAt(0);
  return `\\u${(code + by).toString(16).toUpperCase().padStart(4, "0")}`;
}

function splice(text: string, start: number, length: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(start + length);
}
