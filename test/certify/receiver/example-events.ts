import { randomUUID } from "node:crypto";
import { find, isNode, members, type Node } from "../../../openapi/document/document-node.ts";
import { step } from "../../../openapi/document/pointer.ts";
import type { Contract } from "../../../openapi/document/read-contract.ts";

/** An event, as it is written into a body. */
export type Event = {
  readonly type: string;
  readonly timestamp: string;
  readonly sequence: number;
  readonly data: Node;
};

/** A refund that exists only in the exam's events. */
export type ToldRefund = {
  readonly refundId: string;
  readonly requestKey: string;
  readonly paymentId: string;
  readonly amount: string;
  readonly reference: string;
};

/** The events that can happen to a refund, in the order of its life, and their `sequence`. */
const SEQUENCES = { "refund.pending": 1, "refund.authorized": 2, "refund.terminal_failed": 3 } as const;
export type RefundEvent = keyof typeof SEQUENCES;
const LAST_SEQUENCE = SEQUENCES["refund.terminal_failed"];
const MINUTE_MS = 60_000;

export function newRefund(): ToldRefund {
  const name = randomUUID();
  return {
    refundId: `rfd_${name}`,
    requestKey: `certify-${name}`,
    paymentId: `pay_${name}`,
    amount: "19.99",
    reference: `certify-${name}`,
  };
}

/** The contract's example of an event, with new ids. */
export function exampleEvent({ document }: Contract, type: string): Event {
  const path = `/webhooks${step(type)}/post/requestBody/content${step("application/json")}/examples/event`;
  const [, example] = find(document, path);
  if (!isNode(example) || !isNode(example.value)) throw new Error(`the contract has no example of ${type}`);
  const { sequence, data } = example.value;
  // The prefix stays, because it says of what kind the record is.
  const ids = members(isNode(data) ? data : {}).map(([name, value]: [string, unknown]) =>
    typeof value === "string" && /Id$|^requestKey$/.test(name)
      ? [name, `${/^[a-z]+_/.exec(value)?.[0] ?? "certify-"}${randomUUID()}`]
      : [name, value],
  );
  return {
    type,
    timestamp: new Date().toISOString(),
    sequence: Number(sequence),
    data: Object.fromEntries(ids),
  };
}

/**
 * An event of a refund; its status follows from its type, unless `data` says otherwise. Its time is some minutes ago, and fits its
 * place in the refund's life, in whatever order events are sent.
 */
export function refundEvent(
  contract: Contract,
  type: RefundEvent,
  { refund, data = {} }: { refund: ToldRefund; data?: Node },
): Event {
  const { refundId, requestKey, paymentId, amount, reference } = refund;
  const told = {
    paymentId: refundId,
    clientReferenceId: reference,
    originalPaymentId: paymentId,
    amount: { currency: "USD", value: Number(amount) },
    requestKey,
  };
  const example = exampleEvent(contract, type);
  const sequence = SEQUENCES[type];
  const timestamp = new Date(Date.now() - (LAST_SEQUENCE + 1 - sequence) * MINUTE_MS).toISOString();
  return { ...example, timestamp, sequence, data: { ...example.data, ...told, ...data } };
}
