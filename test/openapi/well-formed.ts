/** A tag with its attributes, a section of characters, or text. */
const PIECE = /<!\[CDATA\[[\s\S]*?\]\]>|<(?:"[^"<]*"|[^">])*>|[^<]+|</g;
const TAG = /^<(\/?)([A-Za-z][\w-]*)((?: [\w-]+="[^"<]*")*)(\/?)>$/;
const REFERENCE = /&(?!(?:amp|lt|gt|quot);)/;

/**
 * Reads XML without comments and other extras, and returns the names of its elements in order. Throws when the text is not
 * well-formed.
 */
export function elementsOf(xml: string): string[] {
  const [declaration = "", ...rest] = xml.split("\n");
  if (!/^<\?xml version="1.0" encoding="UTF-8"\?>$/.test(declaration)) throw new Error("no declaration");
  if (/(?![\t\n])\p{Cc}/u.test(xml)) throw new Error("control characters, which XML can't hold");
  const names: string[] = [];
  const open: string[] = [];
  for (const [piece] of rest.join("\n").trim().matchAll(PIECE)) {
    if (piece.startsWith("<![CDATA[")) continue;
    if (REFERENCE.test(piece)) throw new Error(`an ampersand that begins no reference: ${piece}`);
    if (!piece.startsWith("<")) continue;
    const [, closing, name, , empty] = TAG.exec(piece) ?? [];
    if (name === undefined) throw new Error(`no tag: ${piece}`);
    if (closing && open.pop() !== name) throw new Error(`${name} is closed where it is not open`);
    if (closing) continue;
    names.push(name);
    if (!empty) open.push(name);
  }
  if (open.length > 0) throw new Error(`${open.join(", ")} stay open`);
  return names;
}
