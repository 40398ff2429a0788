import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { readContract } from "../../../openapi/document/contract.ts";

/** The errors of a received payload according to the contract's `webhooks` section; empty when it is as documented. */
export function createEventCheck(): (payload: { readonly type: string }) => string[] {
  const { document } = readContract("openapi");
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "contract");
  return (payload) => {
    const media = `#/webhooks/${payload.type}/post/requestBody/content/application~1json/schema`;
    return ajv.validate({ $ref: `contract${media}` }, payload)
      ? []
      : [`${payload.type}: ${ajv.errorsText()}`];
  };
}

/** Every event that the contract has. */
export function eventNames(): string[] {
  return Object.keys(readContract("openapi").document.webhooks ?? {});
}
