import type { Violation } from "../http/problem.ts";

/** The caller's fault in one field, found by a handler. */
export function invalid(pointer: string, message: string) {
  const violations: Violation[] = [{ pointer, message }];
  return { code: "INVALID_REQUEST", detail: "The call has one fault; see violations.", violations } as const;
}

/** Another merchant's record, or none. */
export function unknown(what: "payment" | "delivery", field: string) {
  return {
    code: "NOT_FOUND",
    detail: `You have no ${what} with this ${field}. Check it and the access token.`,
  } as const;
}
