import type { Constraint } from "./constraint.ts";

/** A decimal as an integer of its smallest steps: 19.99 with two digits is 1999. */
function toSteps(value: number, digits: number): bigint {
  return BigInt(Math.round(value * 10 ** digits));
}

/** A number as people write it, with `digits` after the point. */
function fromSteps(steps: bigint, digits: number): string {
  const sign = steps < 0n ? "-" : "";
  const text = String(steps < 0n ? -steps : steps).padStart(digits + 1, "0");
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** The number that lies `steps` of the smallest difference beyond a bound, as JSON text. */
export function beyond({ value, holder }: Pick<Constraint, "value" | "holder">, steps: bigint): string {
  const digits = Number(holder["x-fraction-digits"] ?? 0);
  return fromSteps(toSteps(Number(value), digits) + steps, digits);
}

/** The smallest number that the bounds of a place allow; undefined where there is no lower bound. */
export function smallestNumber(here: readonly Constraint[]): number | undefined {
  const lowest = here.find(({ keyword }) => keyword === "minimum" || keyword === "exclusiveMinimum");
  return lowest && Number(beyond(lowest, lowest.keyword === "minimum" ? 0n : 1n));
}
