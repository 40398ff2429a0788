import { locate, members, type Node } from "../../../openapi/document/document-node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { createFindViolations } from "../../../openapi/document/schema-validators.ts";

/** A delivery as a receiver gets it, and the event of the document that it should be. */
export type SeenDelivery = {
  readonly event: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: without a body. */
  readonly body: unknown;
};

type WebhookOperation = {
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Node[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Node };
  readonly responses?: Node;
};

function findWebhook(document: Node, event: string): WebhookOperation | undefined {
  return members(document.webhooks).find(([name]) => name === event)?.[1].post as
    | WebhookOperation
    | undefined;
}

/** All errors of a delivery by the document. Deliveries carry no access token. */
export function createDeliveryCheck(document: Node): (delivery: SeenDelivery) => string[] {
  const findViolations = createFindViolations(document);

  return ({ event, headers, body }) => {
    const webhook = findWebhook(document, event);
    if (!webhook) return [`the document has no event ${event}`];
    const here = `/webhooks${step(event)}/post`;
    const errors = (webhook.parameters ?? []).flatMap((_parameter, index) => {
      const [pointer, parameter] = locate(document, `${here}/parameters/${index}`);
      const { name, required, schema } = parameter;
      // Deliveries have headers, and no query.
      const value = parameter.in === "header" ? headers[String(name)] : undefined;
      if (value === undefined) return required ? [`header ${name} is missing`] : [];
      const numeric = (schema as Node).type === "integer" && /^-?\d+$/.test(value);
      const found = findViolations(`${pointer}/schema`, numeric ? Number(value) : value);
      return found.map((violation) => `header ${name}: ${violation}`);
    });
    if ((webhook.security ?? (document.security as unknown[]) ?? []).length > 0)
      errors.push("asks for a token");
    const { required, content = {} } = webhook.requestBody ?? {};
    if (body === undefined) return required ? [...errors, "the body is missing"] : errors;
    const sent = headers["content-type"] || "missing";
    if (!(sent in content)) errors.push(`the media type is ${sent}`);
    // A body under a wrong type is compared with what the document has, to name all errors at once.
    const [type] = sent in content ? [sent] : Object.keys(content);
    if (type === undefined) return errors;
    const ofBody = findViolations(`${here}/requestBody/content${step(type)}/schema`, body);
    return [...errors, ...ofBody.map((violation) => `body: ${violation}`)];
  };
}
