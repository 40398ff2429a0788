import type { components, webhooks } from "../../openapi/generated/types.ts";
import { EVENT_CATEGORIES } from "../../openapi/generated/values.ts";
import { fromCents } from "./money.ts";
import type { OriginalStatus, RefundFailure, RefundStatus } from "./refund-rules.ts";

/** The event of a refund that has just taken its status. */
export function refundEvent(refund: RefundFacts, moment: EventMoment): EventMessage {
  const { errorDetails, ...view } = toRefundView(refund);
  const data = {
    ...view,
    originalPaymentId: refund.originalPaymentId,
    amount: toAmount(refund.amountCents),
    requestKey: refund.requestKey,
    ...(errorDetails && { errorDetails }),
  };
  return message(refundEventType(refund.status), data, moment);
}

type Schemas = components["schemas"];

/** The events of the contract, which are the keys of its `webhooks` (D19). */
export type EventType = keyof webhooks & Schemas["EventName"];
export type EventCategory = Schemas["EventCategory"];

/** Which events a subscription gets: single ones, those of categories, or all (D03). */
export type SubscriptionType = Schemas["SubscriptionRequest"]["subscriptionDetails"]["type"];

export type RefundEventType = EventType & `refund.${Lowercase<RefundStatus>}`;
export type PaymentEventType = EventType & `payment.${Lowercase<EmittedStatus>}`;

/** The events of accounts and customers, which no operation of this service emits (D20). */
export type ResourceEventType = Exclude<EventType, RefundEventType | PaymentEventType>;

/** The statuses of an original payment that have an event; `PROCESSING` has none (D20). */
export type EmittedStatus = Exclude<OriginalStatus, "PROCESSING">;

/** The refund as callers see it (D06). */
export type RefundView = Schemas["Refund"] & { errorDetails?: RefundFailure };

/** What an event says about a refund: the same as its request and its response (D21). The amount is in cents. */
export type RefundFacts = {
  readonly paymentId: string;
  readonly status: RefundStatus;
  readonly clientReferenceId: string | null;
  readonly originalPaymentId: string;
  readonly amountCents: number;
  readonly requestKey: string;
  readonly failure: RefundFailure | null;
};

/** An original payment as receivers see it (D21). */
export type PaymentView = { paymentId: string; status: OriginalStatus; amount: Schemas["Amount"] };

/** An event of one resource: its type and the exact text that is sent, the same on each attempt (D21). */
export type EventMessage<Type extends string = EventType> = { readonly type: Type; readonly payload: string };

/** When an event happened (domain time, D30), and its number among the events of its resource, from 1 (D21). */
export type EventMoment = { readonly at: Date; readonly sequence: number };

/** The name of the event that a refund emits when it takes a status (D20). */
function refundEventType(status: RefundStatus): RefundEventType {
  return `refund.${toLower(status)}`;
}

/** The name of the event that an original payment emits when it takes a status (D20). */
function paymentEventType(status: EmittedStatus): PaymentEventType {
  return `payment.${toLower(status)}`;
}

/** The category of an event (D19): that of its resource, even for an event of a later version. */
export function categoryOf(type: string): EventCategory {
  return CATEGORIES.get(resourceKind(type)) ?? "PAYMENT";
}

/** What an event is about: `refund`, `payment`, `account` or `customer`. */
export function resourceKind(type: string): string {
  return type.slice(0, type.indexOf("."));
}

const CATEGORIES = new Map(
  Object.entries(EVENT_CATEGORIES).flatMap(([category, events]) =>
    events.map((event) => [resourceKind(event), category as EventCategory] as const),
  ),
);

/** The refund response: `errorDetails` only for a failed one, the reference null when none was sent (D06). */
export function toRefundView(
  refund: Pick<RefundFacts, "paymentId" | "status" | "clientReferenceId" | "failure">,
): RefundView {
  const view = {
    paymentId: refund.paymentId,
    paymentStatus: refund.status,
    clientReferenceId: refund.clientReferenceId,
  };
  if (!refund.failure) return view;
  const { errorCode, errorMessage } = refund.failure;
  return { ...view, errorDetails: { errorCode, errorMessage } };
}

export function toPaymentView(payment: {
  readonly paymentId: string;
  readonly status: OriginalStatus;
  readonly amountCents: number;
}): PaymentView {
  return { paymentId: payment.paymentId, status: payment.status, amount: toAmount(payment.amountCents) };
}

/** The event of an original payment that has just taken its status. */
export function paymentEvent(
  payment: PaymentView & { readonly status: EmittedStatus },
  moment: EventMoment,
): EventMessage {
  return message(paymentEventType(payment.status), payment, moment);
}

export function resourceEvent(type: ResourceEventType, id: string, moment: EventMoment): EventMessage {
  return message(type, { [`${resourceKind(type)}Id`]: id }, moment);
}

function toAmount(cents: number): Schemas["Amount"] {
  return { currency: "USD", value: fromCents(cents) };
}

function message(type: EventType, data: object, { at, sequence }: EventMoment): EventMessage {
  return { type, payload: JSON.stringify({ type, timestamp: at.toISOString(), sequence, data }) };
}

function toLower<Text extends string>(text: Text): Lowercase<Text> {
  return text.toLowerCase() as Lowercase<Text>; // toLowerCase is typed as returning any string
}
