import type { Contract } from "../../../openapi/document/contract.ts";
import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import { createFindViolations } from "../../../openapi/document/schemas.ts";
import { deliveryTable, RECEIPTS } from "./deliveries.ts";
import type { DeliveryRow, ResponseRow } from "./message.ts";
import { responseTable } from "./responses.ts";

/** The tables of messages against which a document is tested without a server. */
export const messageTables = { responses: responseTable, deliveries: deliveryTable };
export type MessageTables = {
  readonly responses: readonly ResponseRow[];
  readonly deliveries: readonly DeliveryRow[];
};

/** The names of the rows that a document decides wrongly, generated lazily. */
export function* wrongRows(contract: Contract, { responses, deliveries }: MessageTables): Generator<string> {
  for (const { name, operation, status, headers, body, allowed } of responses) {
    const errors = contract.violationsOf(operation, { status, headers: new Headers(headers), body });
    if (allowed !== (errors.length === 0)) yield `response: ${name}`;
  }
  const findDeliveryErrors = createDeliveryCheck(contract.document);
  for (const row of deliveries) {
    if (row.allowed !== (findDeliveryErrors(row).length === 0)) yield `delivery: ${row.name}`;
  }
  const events = new Set(deliveries.map(({ event }) => event));
  for (const event of events) {
    const documented = Object.keys(receiverOf(contract.document, event)?.responses ?? {});
    for (const [status, entry] of RECEIPTS) {
      if (entryOf(documented, status) !== entry) yield `receipt: ${event} response ${status}`;
    }
  }
}

/** The entry of the document for a status: its own, that of its class, or `default`. */
function entryOf(entries: readonly string[], status: number): string | undefined {
  const range = `${Math.floor(status / 100)}XX`;
  return [String(status), range, "default"].find((entry) => entries.includes(entry));
}

type Receiver = {
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Node[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Node };
  readonly responses?: Node;
};

function receiverOf(document: Node, event: string): Receiver | undefined {
  return members(document.webhooks).find(([name]) => name === event)?.[1].post as Receiver | undefined;
}

/** All errors of a delivery by the document. Deliveries carry no access token. */
export function createDeliveryCheck(
  document: Node,
): (delivery: Pick<DeliveryRow, "event" | "headers" | "body">) => string[] {
  const findViolations = createFindViolations(document);

  return ({ event, headers, body }) => {
    const receiver = receiverOf(document, event);
    if (!receiver) return [`the document has no event ${event}`];
    const here = `/webhooks${step(event)}/post`;
    const errors = (receiver.parameters ?? []).flatMap((_parameter, index) => {
      const [pointer, parameter] = locate(document, `${here}/parameters/${index}`);
      const { name, required, schema } = parameter;
      // Deliveries have headers, and no query.
      const value = parameter.in === "header" ? headers[String(name)] : undefined;
      if (value === undefined) return required ? [`header ${name} is missing`] : [];
      const numeric = (schema as Node).type === "integer" && /^-?\d+$/.test(value);
      const found = findViolations(`${pointer}/schema`, numeric ? Number(value) : value);
      return found.map((violation) => `header ${name}: ${violation}`);
    });
    if ((receiver.security ?? (document.security as unknown[]) ?? []).length > 0)
      errors.push("asks for a token");
    const { required, content = {} } = receiver.requestBody ?? {};
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
