import { edit } from "../constraints/json.ts";
import type { OperationId } from "./row.ts";
import { MISSING, NOT_A_TEXT, NOT_AN_OBJECT, ofLength } from "./values.ts";

/** A response that a server may send or must not send. */
export type ResponseRow = {
  readonly name: string;
  readonly operation: OperationId;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Whether the decisions allow it. */
  readonly allowed: boolean;
};

/** A delivery that a subscriber may get or must not get. */
export type DeliveryRow = {
  readonly name: string;
  readonly event: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: without a body. */
  readonly body: unknown;
  readonly allowed: boolean;
};

type Message = Pick<ResponseRow, "name" | "headers" | "body" | "allowed">;
type Values = Readonly<Record<string, unknown>>;

/** The same message with each value at a pointer, all of them allowed. */
export function keeps<Row extends Message>(row: Row, pointer: string, values: Values): Row[] {
  return variants(row, pointer, values, true);
}

/** The same message with each value at a pointer, none of them allowed. */
export function breaks<Row extends Message>(row: Row, pointer: string, values: Values): Row[] {
  return variants(row, pointer, values, false);
}

function variants<Row extends Message>(row: Row, pointer: string, values: Values, allowed: boolean): Row[] {
  return Object.entries(values).map(([label, value]) => ({
    ...row,
    name: `${row.name}: ${pointer || "the body"} ${label}`,
    body: edit(row.body, { pointer, ...(value !== undefined && { json: JSON.stringify(value) }) }),
    allowed,
  }));
}

/** A member with a string of `min` to `max` code points. */
export function text<Row extends Message>(
  row: Row,
  pointer: string,
  { min = 1, max }: { min?: number; max: number },
): Row[] {
  return [
    ...keeps(row, pointer, { [`has ${min} letters`]: "x".repeat(min), ...ofLength(max) }),
    ...breaks(row, pointer, {
      ...NOT_A_TEXT,
      ...(min > 0 && { "is empty": "" }),
      ...ofLength(max + 1),
    }),
  ];
}

/** A member that is an object, with these members that must be there and no unknown one. */
export function closed<Row extends Message>(row: Row, pointer: string, required: readonly string[]): Row[] {
  return [
    ...breaks(row, pointer, NOT_AN_OBJECT),
    ...breaks(row, `${pointer}/later`, { "is unknown": "x" }),
    ...required.flatMap((name) => breaks(row, `${pointer}/${name}`, MISSING)),
  ];
}

/** The reference of a refund as it is sent back: null, or a text of up to 255. */
export function returnedReference<Row extends Message>(row: Row, pointer: string): Row[] {
  const { "is null": _null, ...others } = NOT_A_TEXT as Record<string, unknown>;
  return [
    ...keeps(row, pointer, { "is null": null, "has one letter": "x", ...ofLength(255) }),
    ...breaks(row, pointer, { ...others, "is empty": "", ...ofLength(256) }),
  ];
}

/** Why a refund failed; the codes are open for readers. */
export function refundErrorDetails<Row extends Message>(row: Row, pointer: string): Row[] {
  return [
    ...closed(row, pointer, ["errorCode", "errorMessage"]),
    ...text(row, `${pointer}/errorCode`, { max: 64 }),
    ...text(row, `${pointer}/errorMessage`, { max: 500 }),
  ];
}

/** An amount of money; a schema can't limit its decimals. */
export function amount<Row extends Message>(row: Row, pointer: string): Row[] {
  const { "is null": _null, ...noText } = NOT_A_TEXT as Record<string, unknown>;
  return [
    ...closed(row, pointer, ["currency", "value"]),
    ...breaks(row, `${pointer}/currency`, {
      "is EUR": "EUR",
      "is OTHER": "OTHER",
      "is null": null,
      ...noText,
    }),
    ...keeps(row, `${pointer}/value`, { "is a cent": 0.01, "is as large as can be": 9_999_999_999.99 }),
    ...breaks(row, `${pointer}/value`, {
      "is 0": 0,
      "is negative": -0.01,
      "is too large": 10_000_000_000,
      "is a text": "10.00",
      "is null": null,
    }),
  ];
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
