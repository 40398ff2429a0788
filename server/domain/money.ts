/**
 * Dollars to whole cents.
 * @param value dollars, already known to have at most two decimals and to be at most 9999999999.99 (D13); in that range
 *   the nearest whole number is the exact one, whatever the binary fraction looks like
 */
export function toCents(value: number): number {
  return Math.round(value * 100);
}

/** Whole cents to dollars, as the number that prints with at most two decimals (D13). */
export function fromCents(cents: number): number {
  return cents / 100;
}
