import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isJson, type Json } from "./expect.ts";
import type { Delivery } from "./receiver.ts";

const MAX_BYTES = 20_000;
const REQUIRED_HEADERS = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/** Holds deliveries against the document's webhooks; the function resolves with everything that is not as documented. */
export function createEventCheck(document: object): (delivery: Delivery) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "contract");

  const faultsOfEvent = (event: Json): string[] => {
    const name = String(event.type);
    const webhooks = "webhooks" in document && isJson(document.webhooks) ? document.webhooks : {};
    if (!Object.hasOwn(webhooks, name)) return [`the document has no event ${name}`];
    const pointer = `/webhooks/${name}/post/requestBody/content/application~1json/schema`;
    const validate = ajv.getSchema(`contract#${pointer}`) ?? ajv.compile({ $ref: `contract#${pointer}` });
    return validate(event) ? [] : [`body: ${ajv.errorsText(validate.errors)}`];
  };

  return ({ method, headers, bytes }) => {
    const type = headers.get("content-type")?.split(";")[0];
    return [
      ...(method === "POST" ? [] : [`the method is ${method}`]),
      ...(type === "application/json" ? [] : [`the media type is ${type ?? "missing"}`]),
      ...(bytes.length < MAX_BYTES ? [] : [`the body has ${bytes.length} bytes`]),
      ...REQUIRED_HEADERS.filter((name) => !headers.get(name)).map((name) => `header ${name} is missing`),
      ...faultsOfEvent(toEvent(bytes)),
    ];
  };
}

function toEvent(bytes: Buffer): Json {
  try {
    const event: unknown = JSON.parse(bytes.toString("utf8"));
    return isJson(event) ? event : {};
  } catch {
    return {};
  }
}
