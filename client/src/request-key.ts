/** Creates a `requestKey`. Store it before the call: a refund that is repeated with another key is issued twice. */
export function newRequestKey(): string {
  return crypto.randomUUID();
}
