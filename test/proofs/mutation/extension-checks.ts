import { locate, members, type Node } from "../../../openapi/document/node.ts";
import { EVENT_CATEGORIES } from "../../../server/domain/events.ts";
import { REFUND_TRANSITIONS } from "../../../server/domain/refunds.ts";

/** The codes of a failed refund, as the decisions list them. */
const REFUND_ERROR_CODES = [
  "PAYMENT_NOT_REFUNDABLE",
  "CUSTOMER_NOT_DEBITED",
  "PAYMENT_COVERED",
  "AMOUNT_EXCEEDS_REFUNDABLE",
];

/**
 * Machine-readable parts of a document that no validator reads and that differ from the server: the transitions of a refund,
 * the events and their categories, the codes of a failed refund. Tags that lead to another branch count as well.
 */
export function* wrongExtensions(document: Node): Generator<string> {
  const { RefundStatus, EventName, RefundErrorDetails } = schemasOf(document);
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

  const { errorCode } = (RefundErrorDetails?.properties ?? {}) as Record<string, Node>;
  const codes = Object.values((errorCode?.["x-extensible-enum"] ?? []) as string[]);
  if (differ(codes, REFUND_ERROR_CODES)) yield "the codes of a failed refund";

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
