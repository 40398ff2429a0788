import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { locate, members, type Node, step } from "../constraints/pointer.ts";
import type { Contract } from "../contract.ts";
import { answerTable } from "./answers.ts";
import { deliveryTable, RECEIPTS } from "./deliveries.ts";
import type { AnswerRow, DeliveryRow } from "./message.ts";

/** The tables of messages that a document is held to without a server. */
export const messageTables = { answers: answerTable, deliveries: deliveryTable };
export type MessageTables = {
  readonly answers: readonly AnswerRow[];
  readonly deliveries: readonly DeliveryRow[];
};

/** The rows that a document decides otherwise than it should, by name, one after the other as they are asked for. */
export function* wrongRows(contract: Contract, { answers, deliveries }: MessageTables): Generator<string> {
  for (const { name, operation, status, headers, body, allowed } of answers) {
    const faults = contract.faultsOf(operation, { status, headers: new Headers(headers), body });
    if (allowed !== (faults.length === 0)) yield `answer: ${name}`;
  }
  const faultsOfDelivery = createDeliveryCheck(contract.document);
  for (const row of deliveries) {
    if (row.allowed !== (faultsOfDelivery(row).length === 0)) yield `delivery: ${row.name}`;
  }
  const events = new Set(deliveries.map(({ event }) => event));
  for (const event of events) {
    const responses = Object.keys(receiverOf(contract.document, event)?.responses ?? {});
    for (const [status, entry] of RECEIPTS) {
      if (entryOf(responses, status) !== entry) yield `receipt: ${event} answered with ${status}`;
    }
  }
}

/** The entry of the document that a status falls under: itself, its class, or what is left. */
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

/** Everything about a delivery that the document does not allow. Deliveries carry no access token. */
function createDeliveryCheck(document: Node): (row: DeliveryRow) => string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "contract");
  const schemaFaults = (pointer: string, value: unknown): string[] => {
    const reference = `contract#${pointer}`;
    const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference });
    return validate(value) ? [] : [ajv.errorsText(validate.errors)];
  };

  return ({ event, headers, body }) => {
    const receiver = receiverOf(document, event);
    if (!receiver) return ["there is no such event"];
    const here = `/webhooks${step(event)}/post`;
    const faults = (receiver.parameters ?? []).flatMap((_parameter, index) => {
      const [pointer, parameter] = locate(document, `${here}/parameters/${index}`);
      const { name, required, schema } = parameter;
      // Deliveries have headers, and no query.
      const value = parameter.in === "header" ? headers[String(name)] : undefined;
      if (value === undefined) return required ? [`${name} is missing`] : [];
      const numeric = (schema as Node).type === "integer" && /^-?\d+$/.test(value);
      return schemaFaults(`${pointer}/schema`, numeric ? Number(value) : value);
    });
    if ((receiver.security ?? (document.security as unknown[]) ?? []).length > 0)
      faults.push("asks for a token");
    const { required, content = {} } = receiver.requestBody ?? {};
    if (body === undefined) return required ? [...faults, "the body is missing"] : faults;
    const type = headers["content-type"] ?? "";
    if (!(type in content)) return [...faults, `media type ${type}`];
    return [...faults, ...schemaFaults(`${here}/requestBody/content${step(type)}/schema`, body)];
  };
}
