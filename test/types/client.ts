/*
 * What the client's types allow and what they refuse. `npm run typecheck` checks it; nothing runs it. When something is no
 * longer refused, the unused `@ts-expect-error` is an error. That a call with the usual fields compiles, other tests and the
 * guides' programs show.
 */
import type {
  Client,
  IssuedRefund,
  LaterStatus,
  RefundErrorDetails,
  RefundStatus,
  WebhookEvent,
  WebhookEventName,
  WebhookHeaders,
} from "../../client/src/index.ts";
import {
  CallError,
  expressWebhookHandler,
  fetchWebhookHandler,
  ProblemError,
  signWebhook,
  TimeoutError,
  verifyWebhook,
} from "../../client/src/index.ts";

/** Compiles when both types are the same; otherwise the error names the expected one. */
type Same<Actual, Expected> = [Actual, Expected] extends [Expected, Actual] ? Actual : never;
declare function isType<Expected>(): <Actual>(actual: Same<Actual, Expected>) => void;

declare const client: Client;
const request = { paymentId: "pay_settled", requestKey: "refund-1042-1" };
const amount = { currency: "USD", value: 19.99 } as const;
const target = { url: "https://merchant.example.com/webhooks", secretKey: "s" };

export async function requests(): Promise<void> {
  // @ts-expect-error there is no such field
  await client.issueRefund({ ...request, amount, merchantId: "acme" });
  // @ts-expect-error another currency
  await client.issueRefund({ ...request, amount: { currency: "EUR", value: 1 } });
  // @ts-expect-error the amount is a number
  await client.issueRefund({ ...request, amount: { currency: "USD", value: "19.99" } });
  // @ts-expect-error null is not a reference
  await client.issueRefund({ ...request, amount, clientReferenceId: null });

  // @ts-expect-error single events need their names
  await client.subscribeToWebhooks({ ...target, subscriptionDetails: { type: "EVENT" } });
  const details = ["refund.failed"] as const;
  // @ts-expect-error there is no such event
  await client.subscribeToWebhooks({ ...target, subscriptionDetails: { type: "EVENT", details } });
}

export async function responses(): Promise<void> {
  const result = await client.issueRefund({ ...request, amount });

  // @ts-expect-error a problem has no paymentStatus
  result.body.paymentStatus;
  // @ts-expect-error 418 is not declared
  result.status === 418;

  switch (result.status) {
    case 201:
      isType<RefundStatus>()(result.body.paymentStatus);
      isType<string | undefined>()(result.body.errorDetails?.errorCode);
      break;
    case 400:
      isType<string | undefined>()(result.body.violations[0]?.pointer);
      break;
    case 409:
      isType<string>()(result.body.existing.paymentId);
      break;
    default:
      isType<string>()(result.body.errorDetails.errorMessage);
      // @ts-expect-error existing is in a 409 only
      result.body.existing;
  }

  const subscribed = await client.subscribeToWebhooks({ ...target, subscriptionDetails: { type: "ALL" } });
  if (subscribed.status === 200) isType<string>()(subscribed.body.subscriptionKey);
  // @ts-expect-error the limit of subscriptions has no existing record
  if (subscribed.status === 409) subscribed.body.existing;
}

export async function values(): Promise<string> {
  const refund = await client.refunds.issue({ ...request, amount: "19.99" });
  // A new status of the contract does not compile here until it has a case below.
  isType<Exclude<IssuedRefund["paymentStatus"], LaterStatus>>()({} as RefundStatus);
  isType<string | null>()(refund.clientReferenceId);
  // @ts-expect-error only a refund that failed is sure to have them
  refund.errorDetails.errorCode;
  // @ts-expect-error the failure state has another name
  refund.paymentStatus === "FAILED";

  switch (refund.paymentStatus) {
    case "PENDING":
    case "AUTHORIZED":
      isType<undefined>()(refund.errorDetails);
      return refund.paymentId;
    case "TERMINAL_FAILED":
      isType<RefundErrorDetails>()(refund.errorDetails);
      return refund.errorDetails.errorCode;
    default:
      isType<LaterStatus>()(refund.paymentStatus);
      return refund.paymentStatus;
  }
}

// @ts-expect-error a status of a later version has no case
export function withoutLaterStatuses(refund: IssuedRefund): string {
  switch (refund.paymentStatus) {
    case "PENDING":
    case "AUTHORIZED":
    case "TERMINAL_FAILED":
      return refund.paymentId;
  }
}

export async function amounts(): Promise<void> {
  // @ts-expect-error a text of cents
  await client.refunds.issue({ ...request, amount: { cents: "1999" } });
  // @ts-expect-error either of them
  await client.refunds.issue({ ...request, amount: { cents: 1999, currency: "USD", value: 19.99 } });
  // @ts-expect-error the requestKey is never generated
  await client.refunds.issue({ paymentId: "pay_settled", amount: "19.99" });
  // @ts-expect-error there is no such option
  await client.refunds.issue({ ...request, amount: "19.99" }, { retries: 3 });
}

export function failures(error: unknown): void {
  if (error instanceof CallError) isType<boolean>()(error.outcomeUnknown);
  // @ts-expect-error only a problem has a code
  if (error instanceof TimeoutError) error.errorCode;
  if (!(error instanceof ProblemError)) return;
  isType<string | undefined>()(error.existing?.paymentId);
  // A code of a later version can be asked for as well.
  if (error.errorCode === "PAYMENT_LOCKED") return;
  // @ts-expect-error it describes what happened
  error.status = 200;
}

export function events(event: WebhookEvent): string | number {
  isType<WebhookEventName | "unknown">()(event.type);
  // @ts-expect-error not every event is about a payment, so the type is not known
  isType<string>()(event.data.paymentId);

  switch (event.type) {
    case "refund.pending":
    case "refund.authorized":
      isType<string | null>()(event.data.clientReferenceId);
      return event.data.paymentId;
    case "refund.terminal_failed":
      return event.data.errorDetails.errorCode;
    case "payment.settled":
    case "payment.failed":
    case "payment.covered":
      isType<"SETTLED" | "FAILED" | "COVERED">()(event.data.status);
      return event.data.amount.value;
    case "unknown":
      isType<unknown>()(event.data.anything);
      return event.name;
    default:
      return "accountId" in event.data ? event.data.accountId : event.data.customerId;
  }
}

export function handlers(headers: WebhookHeaders): void {
  // @ts-expect-error there is no such event
  if (verifyWebhook("", headers, "s").type === "refund.failed") return;
  // @ts-expect-error a parsed body
  verifyWebhook({}, headers, "s");
  // @ts-expect-error onEvent is required
  expressWebhookHandler({ secretKey: "s" });
  // @ts-expect-error onEvent is required
  fetchWebhookHandler({ secretKey: "s", onUnknownEvent: () => {} });
  fetchWebhookHandler({
    secretKey: "s",
    // With `onUnknownEvent`, the unknown events are not a case here.
    onEvent: (event) => isType<WebhookEventName>()(event.type),
    onUnknownEvent: (event) => isType<string>()(event.name),
  });
  fetchWebhookHandler({
    secretKey: "s",
    onEvent: (event) => isType<WebhookEventName | "unknown">()(event.type),
  });
  // @ts-expect-error there is no such event
  signWebhook({ type: "refund.failed", timestamp: "", sequence: 1, data: {} }, "s");
}
