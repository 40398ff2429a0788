import fc, { type Arbitrary } from "fast-check";

/** How a value is written: choices that are used in turn, cyclically. `[0]` is the plainest JSON. */
export type Style = readonly number[];

export const styles: Arbitrary<Style> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([0]) },
  { weight: 1, arbitrary: fc.array(fc.nat(11), { minLength: 1, maxLength: 7 }) },
);

const GAPS = ["", "", "", " ", "\n", "\t", "\r\n  "];

/** A value as JSON text. The style chooses spaces, the order of fields, escapes, and how many zeros an amount ends with. */
export function writeJson(value: unknown, style: Style = [0]): string {
  let taken = 0;
  const choose = (count: number) => (style[taken++ % style.length] ?? 0) % count;
  const gap = () => GAPS[choose(GAPS.length)] ?? "";

  const write = (part: unknown): string => {
    if (typeof part === "string") return writeText(part, choose(4));
    if (typeof part === "number") return writeNumber(part, choose(3));
    if (Array.isArray(part)) return `[${gap()}${part.map(write).join(`${gap()},${gap()}`)}${gap()}]`;
    if (typeof part !== "object" || part === null) return JSON.stringify(part);
    const fields = Object.entries(part).filter(([, field]) => field !== undefined);
    if (choose(2) === 1) fields.reverse();
    const written = fields.map(
      ([name, field]) => `${writeText(name, choose(4))}${gap()}:${gap()}${write(field)}`,
    );
    return `{${gap()}${written.join(`${gap()},${gap()}`)}${gap()}}`;
  };
  return `${gap()}${write(value)}${gap()}`;
}

function writeText(text: string, choice: number): string {
  const plain = JSON.stringify(text);
  if (choice === 1) return plain.replaceAll("/", "\\/");
  if (choice === 2)
    return `"${Array.from({ length: text.length }, (_, at) => escapeUnit(text, at)).join("")}"`;
  if (choice === 3) return plain.replace(/[^\0-\x7f]/g, (unit) => escapeUnit(unit, 0));
  return plain;
}

function escapeUnit(text: string, at: number): string {
  return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
}

/** 10, 10.0 and 10.00 are the same number in this contract. */
function writeNumber(value: number, zeros: number): string {
  const plain = JSON.stringify(value);
  const [, fraction = ""] = plain.split(".");
  if (/e/.test(plain) || fraction.length + zeros > 2) return plain;
  return zeros === 0 ? plain : `${fraction ? plain : `${plain}.`}${"0".repeat(zeros)}`;
}
