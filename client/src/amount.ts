import { InvalidAmountError } from "./errors.ts";
import { isObject } from "./json.ts";
import type { Amount } from "./types.ts";

/** An amount as a caller may give it: dollars with at most two decimals, as a string or a number, or cents. */
export type AmountInput =
  | Dollars
  | {
      /** A whole number: 1999 means 19.99 dollars. */
      readonly cents: number;
      readonly value?: never;
    }
  | { readonly currency: Amount["currency"]; readonly value: Dollars; readonly cents?: never };

/** `"19.99"` or `19.99`. */
export type Dollars = string | number;

const MAX_CENTS = 999_999_999_999;

/**
 * The amount as it is sent. Only the errors of floating-point arithmetic are rounded away: three times 19.99 becomes 59.97,
 * but 10.005 is refused.
 * @throws InvalidAmountError when it is not a whole number of cents from 0.01 to 9999999999.99 dollars
 */
export function toAmount(input: AmountInput): Amount {
  const { currency, cents } = readInput(input);
  if (currency !== "USD") throw new InvalidAmountError(`the currency is USD, not ${currency}.`);
  if (cents <= 0) throw new InvalidAmountError("it is not more than 0.");
  if (cents > MAX_CENTS) throw new InvalidAmountError("it is more than 9999999999.99.");
  // The double nearest to the two decimals: JSON uses the shortest text of a number, and so writes exactly these digits.
  return { currency, value: cents / 100 };
}

function readInput(input: unknown): { currency: unknown; cents: number } {
  if (!isObject(input)) return { currency: "USD", cents: toCents(input) };
  const { cents, currency = "USD", value } = input;
  // An object with neither may be one of a library, such as a decimal.
  if (cents === undefined) return { currency, cents: toCents("value" in input ? value : input) };
  if (value !== undefined) throw new InvalidAmountError("give cents or a value, not both.");
  if (!Number.isSafeInteger(cents))
    throw new InvalidAmountError(`cents are a whole number, not the ${typeof cents} ${cents}.`);
  return { currency, cents: Number(cents) };
}

export function toCents(dollars: unknown): number {
  if (typeof dollars === "number" && Number.isFinite(dollars)) return toWholeCents(dollars);
  const digits = typeof dollars === "string" ? /^-?(\d+)(?:\.(\d{1,2}))?$/.exec(dollars) : null;
  if (digits === null) {
    const text = typeof dollars === "string" ? JSON.stringify(dollars) : String(dollars);
    const shown = dollars instanceof Object ? "an object: pass its text, such as amount.toFixed(2)" : text;
    throw new InvalidAmountError(`give dollars with at most two digits after the point, not ${shown}.`);
  }
  const [text, whole = "", fraction = ""] = digits;
  const cents = Number(whole + fraction.padEnd(2, "0"));
  return text.startsWith("-") ? -cents : cents;
}

/** Arithmetic with dollars is off by a few units in the last of 53 bits; a larger difference is a third decimal. */
function toWholeCents(dollars: number): number {
  const cents = Math.round(dollars * 100);
  if (Math.abs(dollars * 100 - cents) > Math.abs(cents) * Number.EPSILON * 16)
    throw new InvalidAmountError(`${dollars} has more than two digits after the point.`);
  return cents;
}
