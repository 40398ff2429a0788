import {
  Amount,
  ApiError,
  EventName,
  type EventSubscription,
  OpenAPI,
  type RefundAuthorizedEvent,
  type RefundRequest,
  RefundsService,
  type SubscriptionRequest,
  WebhooksService,
} from "./payments";
import { isType, missing, type ProgramInput, type Schemas } from "./program";

export async function run({ baseUrl, token, requestKey }: ProgramInput) {
  OpenAPI.BASE = baseUrl;
  OpenAPI.TOKEN = token;
  const body: RefundRequest = {
    paymentId: "pay_recent",
    amount: { currency: Amount.currency.USD, value: 9.99 },
    clientReferenceId: "order-1042",
    requestKey,
  };

  const refund = await RefundsService.issueRefund(body);
  const duplicate = await problemOf(RefundsService.issueRefund(body));
  const invalid = await problemOf(
    RefundsService.issueRefund({ ...body, amount: { currency: Amount.currency.USD, value: -1 } }),
  );
  const details: EventSubscription = { type: "EVENT", details: [EventName.REFUND_AUTHORIZED] };
  const subscription = await WebhooksService.subscribeToWebhooks({
    url: "http://127.0.0.1:9/hooks",
    secretKey: "a secret of at least thirty-two bytes",
    subscriptionDetails: details,
  });
  isType<number>()(body.amount.value);
  isType<Schemas["RefundStatus"]>()(`${refund.paymentStatus}` as const);

  return {
    refund: { body: refund },
    duplicate,
    invalid,
    subscription: { body: subscription },
  };
}

/** The client throws for every response that is not a success; the body of the thrown error has no type. */
async function problemOf(call: Promise<unknown>) {
  const thrown = await call.then(
    () => missing("problem"),
    (error: unknown) => error,
  );
  if (!(thrown instanceof ApiError)) return missing("status");
  isType<number>()(thrown.status);
  return { status: thrown.status, body: thrown.body };
}

export function receive({ type, timestamp }: RefundAuthorizedEvent) {
  isType<string>()(type);
  isType<string>()(timestamp);
}

// @ts-expect-error the name of an event in a list of categories
export const details: SubscriptionRequest["subscriptionDetails"] = {
  type: "CATEGORY",
  details: ["refund.authorized"],
};
