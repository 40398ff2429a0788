/** Validates delivered events by the contract. */
import { readContract } from "../../../openapi/document/read-contract.ts";
import { createFindViolations } from "../../../openapi/document/schema-validators.ts";
import { EVENT_CATEGORIES } from "../../../openapi/generated/values.ts";

const { document } = readContract("openapi");
const findViolations = createFindViolations(document);

/** The errors of a received payload according to the contract's `webhooks` section; empty when it is as documented. */
export function findEventErrors(payload: { readonly type: string }): string[] {
  const pointer = `/webhooks/${payload.type}/post/requestBody/content/application~1json/schema`;
  return findViolations(pointer, payload).map((error) => `${payload.type}: ${error}`);
}

/** The events that only the `events` call of the sandbox causes (D20). */
export const EMITTED_EVENTS = [...EVENT_CATEGORIES.ACCOUNT, ...EVENT_CATEGORIES.CUSTOMER];
