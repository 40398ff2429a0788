import { isUtf8 } from "node:buffer";
import { Temporal } from "temporal-polyfill";
import { toCents } from "../domain/money.ts";
import { checkLiterals, rememberLiteral } from "../http/number-literals.ts";
import { scanJson } from "../http/raw-json.ts";

type Named = { readonly merchant: string; readonly paymentId: string };

/** What a line of the payment system says of an original payment (D25). */
export type PaymentLine =
  | (Named & {
      readonly op: "put";
      readonly amountCents: number;
      readonly requestKey: string | null;
      readonly clientReferenceId: string | null;
    })
  | (Named & { readonly op: "settle"; readonly settledAt: Date })
  | (Named & { readonly op: "fail" | "cover" });

/** Why a line is refused; it repeats nothing of the line but names of fields. */
export type LineFault = { readonly fault: string };

type Check = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, { readonly check: Check; readonly optional?: true }>>;

const AMOUNT_PLACES = [{ path: ["amount", "value"], digits: 2 }];
const MAX_AMOUNT = 9999999999.99;
/** Three decimals at most: the database keeps no more. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/;

const named = {
  op: { check: () => undefined },
  merchant: { check: text(255) },
  paymentId: { check: text(64) },
};
const FIELDS: Readonly<Record<PaymentLine["op"], Fields>> = {
  put: {
    ...named,
    amount: { check: checkAmount },
    requestKey: { check: text(255), optional: true },
    clientReferenceId: { check: text(255), optional: true },
  },
  settle: { ...named, settledAt: { check: checkTime } },
  fail: named,
  cover: named,
};

/** Reads a line as strictly as the service reads a call: the same limits (D15) and the same amounts (D13). */
export function parsePaymentLine(bytes: Buffer): PaymentLine | LineFault {
  const body = parseObject(bytes);
  if ("fault" in body) return body;
  const { value } = body;
  const { op } = value;
  if (!isOp(op)) return { fault: `op must be one of: ${Object.keys(FIELDS).join(", ")}` };
  const faults = [...findFaults(value, FIELDS[op]), ...(op === "put" ? literalFaults(value) : [])];
  return faults.length > 0 ? { fault: faults.join("; ") } : toLine(op, value);
}

function parseObject(bytes: Buffer): { value: Readonly<Record<string, unknown>> } | LineFault {
  if (!isUtf8(bytes)) return { fault: "is not UTF-8" };
  const text = bytes.toString("utf8");
  if (text.startsWith("\uFEFF")) return { fault: "begins with a byte order mark" };
  const { fault: raw } = scanJson(text);
  if (raw) return { fault: raw.pointer === "" ? raw.message : "a field stands twice" };
  try {
    const value: unknown = JSON.parse(text, rememberLiteral);
    if (isObject(value)) return { value };
  } catch {
    return { fault: "is not valid JSON" };
  }
  return { fault: "is not a JSON object" };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOp(op: unknown): op is PaymentLine["op"] {
  return typeof op === "string" && Object.hasOwn(FIELDS, op);
}

function findFaults(value: Readonly<Record<string, unknown>>, fields: Fields): string[] {
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
  const faults =
    unknown.length > 0 ? [`has fields that are not known: ${unknown.slice(0, 5).map(quote).join(", ")}`] : [];
  for (const [name, { check, optional }] of Object.entries(fields)) {
    const given = Object.hasOwn(value, name);
    if (!given && !optional) faults.push(`${name} is missing`);
    const fault = given ? check(value[name]) : undefined;
    if (fault) faults.push(`${name} ${fault}`);
  }
  return faults;
}

const MAX_QUOTED = 40;

function quote(name: string): string {
  return JSON.stringify(name.slice(0, MAX_QUOTED));
}

function text(maxLength: number): Check {
  return (value) => {
    if (typeof value !== "string") return "must be a string";
    const length = [...value].length;
    if (length === 0 || length > maxLength) return `must have 1 to ${maxLength} characters`;
    return value.includes("\0") || !value.isWellFormed()
      ? "must not hold U+0000 or a lone surrogate"
      : undefined;
  };
}

function checkAmount(value: unknown): string | undefined {
  if (!isObject(value)) return "must be an object with currency and value";
  if (Object.keys(value).some((name) => name !== "currency" && name !== "value")) {
    return "must have currency and value alone";
  }
  if (value.currency !== "USD") return "must have the currency USD";
  const { value: dollars } = value;
  if (typeof dollars !== "number") return "must have a number as value";
  return dollars > 0 && dollars <= MAX_AMOUNT ? undefined : `must be above 0 and at most ${MAX_AMOUNT}`;
}

function literalFaults(value: Readonly<Record<string, unknown>>): string[] {
  return checkLiterals(AMOUNT_PLACES, value).map(({ message }) => `amount ${message}`);
}

function checkTime(value: unknown): string | undefined {
  const wanted = "must be a time, such as 2026-11-18T15:30:00Z";
  if (typeof value !== "string" || !TIME.test(value)) return wanted;
  try {
    Temporal.Instant.from(value);
    return undefined;
  } catch {
    return wanted; // the 30th of February
  }
}

/** The checks above have seen every field; hence the casts. */
function toLine(op: PaymentLine["op"], value: Readonly<Record<string, unknown>>): PaymentLine {
  const name = { merchant: value.merchant as string, paymentId: value.paymentId as string };
  if (op === "settle") return { op, ...name, settledAt: new Date(value.settledAt as string) };
  if (op !== "put") return { op, ...name };
  return {
    op,
    ...name,
    amountCents: toCents((value.amount as { value: number }).value),
    requestKey: (value.requestKey as string | undefined) ?? null,
    clientReferenceId: (value.clientReferenceId as string | undefined) ?? null,
  };
}
