import type { Violation } from "./problem.ts";
import type { Schemas } from "./schemas.ts";
import type { BodyCheck } from "./validate.ts";

type Fields<Name extends keyof Schemas> = Partial<Record<keyof Schemas[Name], unknown>>;

/** The two spellings of the reference must agree; the fault is the misspelt one's (D01, D07). */
export const checkReferences: BodyCheck = (body) => {
  const { clientReferenceId, clientRefefenceId } = fieldsOf<"RefundRequest">(body);
  if (typeof clientReferenceId !== "string" || typeof clientRefefenceId !== "string") return [];
  if (clientReferenceId === clientRefefenceId) return [];
  return [violation("/clientRefefenceId", "differs from clientReferenceId; send clientReferenceId alone")];
};

/** The delivery URL must be one that this server delivers to (D24). `findFault` says what is wrong with it. */
export function checkTarget(findFault: (url: string) => string | undefined): BodyCheck {
  return (body) => {
    const { url } = fieldsOf<"SubscriptionRequest">(body);
    const fault = typeof url === "string" ? findFault(url) : undefined;
    return fault === undefined ? [] : [violation("/url", fault)];
  };
}

function fieldsOf<Name extends keyof Schemas>(body: unknown): Fields<Name> {
  return typeof body === "object" && body !== null ? (body as Fields<Name>) : {};
}

function violation(pointer: string, message: string): Violation {
  return { pointer, message };
}
