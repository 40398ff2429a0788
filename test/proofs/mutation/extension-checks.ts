import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { EVENT_CATEGORIES } from "../../../server/domain/events.ts";
import { REFUND_TRANSITIONS } from "../../../server/domain/refunds.ts";
import { PROBLEM_STATUSES } from "../../conformance/assertions.ts";

/** The values that are sent where later versions may add some, as the decisions list them: by schema and property. */
const OPEN_LISTS: readonly (readonly [schema: string, property: string, values: readonly string[]])[] = [
  [
    ...(["RefundErrorDetails", "errorCode"] as const),
    ["PAYMENT_NOT_REFUNDABLE", "CUSTOMER_NOT_DEBITED", "PAYMENT_COVERED", "AMOUNT_EXCEEDS_REFUNDABLE"],
  ],
  ["ProblemErrorDetails", "errorCode", Object.keys(PROBLEM_STATUSES)],
  ["RefundEventData", "paymentStatus", ["PENDING", "AUTHORIZED"]],
  ["FailedRefundEventData", "paymentStatus", ["TERMINAL_FAILED"]],
  ["PaymentEventData", "status", ["SETTLED", "FAILED", "COVERED"]],
];

/** The entries for a subscriber's responses: received, ended, and to be delivered again. */
const RECEIPTS = ["2XX", "410", "default"];

/**
 * Machine-readable parts of a document that no validator reads and that differ from the server: the transitions of a refund,
 * the events and their categories, the values of lists that may grow. Tags that lead to another branch count as well.
 */
export function* wrongExtensions(document: Node): Generator<string> {
  const { RefundStatus, EventName } = schemasOf(document);
  const transitions = members(RefundStatus?.["x-transitions"]).map(([, { from, trigger, to }]) => ({
    from,
    trigger,
    to,
  }));
  if (differ(transitions, REFUND_TRANSITIONS)) yield "the transitions of a refund";

  const categories = members(EventName?.["x-event-categories"]).flatMap(([category, names]) =>
    Object.values(names).map((name) => [name, category]),
  );
  if (differ(categories, Object.entries(EVENT_CATEGORIES))) yield "the categories of events";
  if (differ(Object.keys((document.webhooks ?? {}) as Node), Object.keys(EVENT_CATEGORIES)))
    yield "the events";
  for (const [event, { post }] of members(document.webhooks)) {
    const { responses = {} } = post as { responses?: Node };
    if (differ(Object.keys(responses), RECEIPTS)) yield `the responses to ${event}`;
  }

  for (const [schema, property, values] of OPEN_LISTS) {
    const { [property]: list } = (schemasOf(document)[schema]?.properties ?? {}) as Record<string, Node>;
    const found = (list?.["x-extensible-enum"] ?? []) as string[];
    if (differ(found, values)) yield `the values of ${schema}.${property}`;
  }

  for (const [name, schema] of members(schemasOf(document))) yield* wrongTags(document, name, schema);
}

function schemasOf(document: Node): Readonly<Record<string, Node>> {
  return ((document.components as Node).schemas ?? {}) as Record<string, Node>;
}

/** In any order. */
function differ(found: readonly unknown[], expected: readonly unknown[]): boolean {
  const sorted = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).toSorted();
  return JSON.stringify(sorted(found)) !== JSON.stringify(sorted(expected));
}

/** Each branch of a union is identified by its tag, and the mapping says so. */
function* wrongTags(document: Node, name: string, schema: Node): Generator<string> {
  if (schema.oneOf === undefined) return;
  const { propertyName = "", mapping = {} } = (schema.discriminator ?? {}) as {
    propertyName?: string;
    mapping?: Record<string, string>;
  };
  const tagOf = ({ $ref }: Node) => {
    const { properties = {} } = locate(document, String($ref).slice(1))[1];
    return (properties as Record<string, Node>)[propertyName]?.const;
  };
  const branches = Object.values(schema.oneOf as Node[]).map((branch) => [tagOf(branch), branch.$ref]);
  if (differ(branches, Object.entries(mapping))) yield `the tags of ${name}`;
}
