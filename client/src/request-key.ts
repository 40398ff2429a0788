/**
 * Creates a new `requestKey`. Store it before the call: a refund that is repeated with another key, after a crash or a lost
 * response, is issued twice.
 */
export function newRequestKey(): string {
  return crypto.randomUUID();
}
