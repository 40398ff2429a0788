/*
 * What the client's types allow and what they refuse. `npm run typecheck` checks it; nothing runs it.
 * A refusal that no longer happens fails as an unused `@ts-expect-error`.
 */
import type {
  Client,
  RefundStatus,
  SubscriptionRequest,
  WebhookEvent,
  WebhookEventName,
  WebhookEventOf,
  WebhookHeaders,
} from "../../client/src/index.ts";
import { expressWebhookHandler, fetchWebhookHandler, verifyWebhook } from "../../client/src/index.ts";

/** Compiles when both types are the same, and says which one it wanted when they are not. */
type Same<Actual, Expected> = [Actual, Expected] extends [Expected, Actual] ? Actual : never;
declare function isType<Expected>(): <Actual>(actual: Same<Actual, Expected>) => void;

declare const client: Client;
const amount = { currency: "USD", value: 19.99 } as const;
const paymentId = "pay_settled";
const requestKey = "refund-1042-1";

export async function requests(): Promise<void> {
  await client.issueRefund({ paymentId, amount, requestKey });
  await client.issueRefund({
    paymentId,
    amount,
    requestKey,
    clientReferenceId: "order-1042",
    softDescriptor: "A",
  });
  // The misspelling of the interface is deprecated, and accepted.
  await client.issueRefund({ paymentId, amount, requestKey, clientRefefenceId: "order-1042" });

  // @ts-expect-error requestKey is missing
  await client.issueRefund({ paymentId, amount });
  // @ts-expect-error there is no such field
  await client.issueRefund({ paymentId, amount, requestKey, merchantId: "acme" });
  // @ts-expect-error another currency
  await client.issueRefund({ paymentId, amount: { currency: "EUR", value: 1 }, requestKey });
  // @ts-expect-error the amount is a number
  await client.issueRefund({ paymentId, amount: { currency: "USD", value: "19.99" }, requestKey });
  // @ts-expect-error null is no reference
  await client.issueRefund({ paymentId, amount, requestKey, clientReferenceId: null });

  const target = { url: "https://merchant.example.com/webhooks", secretKey: "s" };
  const subscribe = (subscriptionDetails: SubscriptionRequest["subscriptionDetails"]) =>
    client.subscribeToWebhooks({ ...target, subscriptionDetails });
  await subscribe({ type: "ALL" });
  await subscribe({ type: "EVENT", details: ["payment.settled"] });

  // @ts-expect-error single events need their names
  await subscribe({ type: "EVENT" });
  // @ts-expect-error there is no such event
  await subscribe({ type: "EVENT", details: ["refund.failed"] });
  // @ts-expect-error a list, and not a text
  await subscribe({ type: "CATEGORY", details: "PAYMENT" });
}

export async function answers(): Promise<void> {
  const result = await client.issueRefund({ paymentId, amount, requestKey });

  // @ts-expect-error a problem has no paymentStatus
  result.body.paymentStatus;
  // @ts-expect-error 418 is not declared
  result.status === 418;

  switch (result.status) {
    case 201:
      isType<RefundStatus>()(result.body.paymentStatus);
      isType<string | undefined>()(result.body.errorDetails?.errorCode);
      // @ts-expect-error a refund has no existing record
      result.body.existing;
      break;
    case 400:
      isType<string | undefined>()(result.body.violations[0]?.pointer);
      break;
    case 409:
      isType<string>()(result.body.existing.paymentId);
      break;
    default:
      isType<string>()(result.body.errorDetails.errorMessage);
      // @ts-expect-error existing stands in a 409 only
      result.body.existing;
  }

  const target = { url: "https://merchant.example.com/webhooks", secretKey: "s" };
  const subscribed = await client.subscribeToWebhooks({ ...target, subscriptionDetails: { type: "ALL" } });
  if (subscribed.status === 200) isType<string>()(subscribed.body.subscriptionKey);
  // @ts-expect-error the limit of subscriptions has no existing record
  if (subscribed.status === 409) subscribed.body.existing;
}

export function events(event: WebhookEvent): string | number {
  isType<number>()(event.sequence);
  isType<string>()(event.timestamp);
  isType<WebhookEventName | "unknown">()(event.type);
  // @ts-expect-error not every event is about a payment, so the type is not known
  isType<string>()(event.data.paymentId);

  switch (event.type) {
    case "refund.pending":
    case "refund.authorized":
      isType<"PENDING" | "AUTHORIZED">()(event.data.paymentStatus);
      isType<string | null>()(event.data.clientReferenceId);
      return event.data.paymentId;
    case "refund.terminal_failed":
      isType<"TERMINAL_FAILED">()(event.data.paymentStatus);
      return event.data.errorDetails.errorCode;
    case "payment.settled":
    case "payment.failed":
    case "payment.covered":
      isType<"SETTLED" | "FAILED" | "COVERED">()(event.data.status);
      return event.data.amount.value;
    case "account.linked":
    case "account.unlinked":
      return event.data.accountId;
    case "customer.created":
      return event.data.customerId;
    case "unknown":
      isType<unknown>()(event.data.anything);
      return event.name;
  }
  // Every event is handled above, so that this compiles without a return.
}

export function handlers(request: Request, headers: WebhookHeaders): void {
  // @ts-expect-error there is no such event
  if (verifyWebhook("", headers, "s").type === "refund.failed") return;
  // @ts-expect-error a parsed body
  verifyWebhook({}, headers, "s");
  isType<WebhookEvent>()(verifyWebhook(new Uint8Array(), request.headers, "s"));
  isType<"AUTHORIZED">()(({} as WebhookEventOf<"refund.authorized">).data.paymentStatus);

  fetchWebhookHandler({ secretKey: "s", onEvent: async ({ type }) => void type })(request).then(
    isType<Response>(),
  );
  // @ts-expect-error nobody listens
  expressWebhookHandler({ secretKey: "s" });
}
