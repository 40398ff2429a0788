/**
 * A new `requestKey`. Store it before the call: whoever repeats a refund with another key, after a crash or a lost answer,
 * refunds twice.
 */
export function newRequestKey(): string {
  return crypto.randomUUID();
}
