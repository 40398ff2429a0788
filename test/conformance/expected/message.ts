import { findConstraintsOfSchema } from "../../../openapi/document/constraints.ts";
import { KEYWORDS } from "../../../openapi/document/keywords.ts";
import type { Node } from "../../../openapi/document/node.ts";
import { holderOf, valueAt } from "../../../openapi/document/pointer.ts";
import { createFindViolations, type Violation } from "../constraints/body-check.ts";
import { type Edit, edit } from "../constraints/json.ts";

/** A response that a server may send or must not send. */
export type ResponseRow = Message & {
  readonly operation: "issueRefund" | "subscribeToWebhooks";
  readonly status: number;
};

/** A delivery that a subscriber may get or must not get. */
export type DeliveryRow = Message & { readonly event: string };

type Message = {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: without a body. */
  readonly body: unknown;
  /** Whether the decisions allow it. */
  readonly allowed: boolean;
};

/*
 * The limits that the decisions set, in the words of JSON Schema. They are written by hand, and not taken from the document, which
 * they test.
 */

export const text = (maxLength: number, minLength = 1): Node => ({ type: "string", minLength, maxLength });

/** An object with these members, all of them required, and no other. */
export const closed = (properties: Readonly<Record<string, Node>>): Node => ({
  ...{ type: "object", additionalProperties: false, required: Object.keys(properties), properties },
});

/** An object that later versions may add members to. */
export const open = (properties: Readonly<Record<string, Node>>): Node => ({
  ...closed(properties),
  additionalProperties: true,
});

/** An amount of money; a schema can't limit its decimals. */
export const AMOUNT = closed({
  currency: { type: "string", enum: ["USD"] },
  value: { type: "number", minimum: 0.01, maximum: 9_999_999_999.99, "x-fraction-digits": 2 },
});

/** The reference of a refund as it is sent back: null, or a text of up to 255. */
export const RETURNED_REFERENCE: Node = { ...text(255), type: ["string", "null"] };

/** Why a refund failed; the codes are open for readers. */
export const REFUND_ERROR = closed({ errorCode: text(64), errorMessage: text(500) });

/** A change of a body to a limit or just beyond, its description, and what it violates. */
export type Variant = {
  readonly label: string;
  readonly edit: Edit;
  readonly violations: readonly Violation[];
};

/** Every change of a body to a limit or just beyond one, by the table of keywords; the limits decide which are allowed. */
export function variantsOf(body: unknown, limits: Node): Variant[] {
  const document = { limits };
  const findViolations = createFindViolations(document);
  const variants = findConstraintsOfSchema(document, "/limits").flatMap(({ at, keyword, value, holder }) => {
    const pointer = (keyword === "required" ? holderOf(at) : at).replaceAll("*", "0");
    const occurrence = { value, schema: holder, current: valueAt(body, pointer), others: [] };
    const { obeying, breaking } = KEYWORDS[keyword] ?? {};
    // Decimals are limited in the text of a number, which no validator sees.
    if (keyword === "x-fraction-digits" || occurrence.current === undefined) return [];
    return [...(obeying?.(occurrence) ?? []), ...(breaking?.(occurrence) ?? [])].map((json): Variant => {
      const change = { pointer, json };
      const label = `${pointer || "the body"} ${describe(occurrence.current, json)}`;
      return { label, edit: change, violations: findViolations("/limits", edit(body, change)) };
    });
  });
  return [...new Map(variants.map((variant) => [variant.label, variant])).values()];
}

/** Says how a value differs: `lacks "type"`, `has "later"`, `is "xxx…" of 64 characters`. */
function describe(current: unknown, json: string): string {
  const value: unknown = JSON.parse(json);
  const [before, after] = [current, value].map((one) => namesOf(one));
  const lost = before?.filter((name) => !after?.includes(name)) ?? [];
  const gained = after?.filter((name) => !before?.includes(name)) ?? [];
  if (before && after && lost.length + gained.length > 0)
    return [...lost.map((name) => `lacks "${name}"`), ...gained.map((name) => `has "${name}"`)].join(" and ");
  // Not by code units, which would cut an emoji in half.
  const characters = [...json];
  if (characters.length <= 60) return `is ${json}`;
  return `is ${characters.slice(0, 40).join("")}… of ${characters.length} characters`;
}

function namesOf(value: unknown): string[] | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.keys(value)
    : undefined;
}

/** A message with each variant of its body at the chosen pointers. */
export function within<Row extends Message>(row: Row, limits: Node, at = /^/): Row[] {
  const variants = variantsOf(row.body, limits).filter((variant) => at.test(variant.edit.pointer));
  return variants.map(({ label, edit: change, violations }) => ({
    ...row,
    name: `${row.name}: ${label}`,
    body: edit(row.body, change),
    allowed: violations.length === 0,
  }));
}

type Values = Readonly<Record<string, unknown>>;

/** The same message with each value at a pointer, all of them allowed. */
export function keeps<Row extends Message>(row: Row, pointer: string, values: Values): Row[] {
  return withValues(row, pointer, values, true);
}

/** The same message with each value at a pointer, none of them allowed. */
export function breaks<Row extends Message>(row: Row, pointer: string, values: Values): Row[] {
  return withValues(row, pointer, values, false);
}

function withValues<Row extends Message>(row: Row, pointer: string, values: Values, allowed: boolean): Row[] {
  return Object.entries(values).map(([label, value]) => ({
    ...row,
    name: `${row.name}: ${pointer || "the body"} ${label}`,
    body: edit(row.body, { pointer, json: JSON.stringify(value) }),
    allowed,
  }));
}

/** The same message with each value of a header; undefined leaves the header out. */
export function withHeader<Row extends Message>(
  row: Row,
  name: string,
  values: Readonly<Record<"kept" | "broken", readonly (string | undefined)[]>>,
): Row[] {
  const { [name]: _replaced, ...others } = row.headers;
  return (["kept", "broken"] as const).flatMap((kind) =>
    values[kind].map((value) => ({
      ...row,
      name: `${row.name} with ${name} ${JSON.stringify(value)}`,
      headers: value === undefined ? others : { ...others, [name]: value },
      allowed: kind === "kept",
    })),
  );
}
