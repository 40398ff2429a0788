import { readContract } from "../../../openapi/document/contract.ts";
import { createFindViolations } from "../../../openapi/document/schemas.ts";

const { document } = readContract("openapi");
const findViolations = createFindViolations(document);

/** The errors of a received payload according to the contract's `webhooks` section; empty when it is as documented. */
export function findEventErrors(payload: { readonly type: string }): string[] {
  const pointer = `/webhooks/${payload.type}/post/requestBody/content/application~1json/schema`;
  return findViolations(pointer, payload).map((error) => `${payload.type}: ${error}`);
}

/** Every event that the contract has. */
export function eventNames(): string[] {
  return Object.keys(document.webhooks ?? {});
}
