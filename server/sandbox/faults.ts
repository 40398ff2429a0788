import { invalidCall } from "../http/problem.ts";

/** The caller's fault in one field of the body, or at `/query/…`, found by a handler. */
export function invalid(pointer: string, message: string) {
  return invalidCall([{ pointer, message }]);
}

const UNKNOWN = {
  payment: "You have no payment with this paymentId. Check the identifier and the access token.",
  delivery: "You have no delivery with this webhookId. List your deliveries to find it.",
  subscription: "You have no live subscription with this subscriptionKey.",
} as const;

/** Another merchant's record, or none. */
export function unknown(what: keyof typeof UNKNOWN) {
  return { code: "NOT_FOUND", detail: UNKNOWN[what] } as const;
}
