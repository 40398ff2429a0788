/** A merchant's program that issues refunds, with or without one of the mistakes that the exam must find. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Mistake } from "./mistakes.ts";

/** What the exam tells a merchant to refund. */
export type Order = {
  readonly url: string;
  readonly token: string;
  readonly paymentId: string;
  readonly amount: string;
  readonly reference: string;
};

const MAX_ATTEMPTS = 4;
/** Far more than the exam allows in a second. */
const MANY_ATTEMPTS = 40;
/** More than the exam allows in a second, too. Each that is lost doubles the wait. */
const SOME_ATTEMPTS = 6;
const FIRST_WAIT_MS = 60;
/** Less than a response is held. */
const TIMEOUT_MS = 150;
/** More than a response is held, except the response that never comes. */
const LONGER_MS = 3_000;
const ENDLESS_MS = 60_000;
/** In place of a status: the refund is to be begun again. */
export const FORGOTTEN = "FORGOTTEN";
/** So short that there is always another request soon. */
const ENDLESS_WAIT_MS = 100;

type Refund = { readonly paymentStatus: string; readonly errorDetails?: { readonly errorCode: string } };

function toMaxAttempts(has: (mistake: Mistake) => boolean): number {
  if (has("caller: repeats for ever, from a queue")) return Number.POSITIVE_INFINITY;
  if (has("caller: repeats at once")) return MANY_ATTEMPTS;
  if (has("caller: repeats a 500 at once")) return SOME_ATTEMPTS;
  if (has("caller: does not repeat at all")) return 1;
  return MAX_ATTEMPTS;
}

/** Creates a program that issues refunds; it resolves with the status, if it is known. */
export function createCaller(has: (mistake: Mistake) => boolean) {
  const isEndless = has("caller: repeats for ever, from a queue");
  let timedOut = false;
  const isPatient = has("caller: waits for ever for a response");
  const isHasty = has("caller: makes a new requestKey after a timeout, in a queue");
  const maxAttempts = toMaxAttempts(has);

  return async function call(order: Order, requestKey: string): Promise<string | undefined> {
    let key = requestKey;
    const amount = toAmount(order.amount);
    if (amount === undefined || has("caller: makes no request")) return undefined;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const response = await send(order, { amount, key });
      if (response === undefined) {
        if (attempt === maxAttempts && has("caller: takes a lost response for a failure"))
          return "TERMINAL_FAILED";
        if (timedOut || has("caller: makes a new requestKey for each attempt")) key = randomUUID();
      } else if (response.status === 201 && isWaiting(response.body, attempt)) key = randomUUID();
      else if (response.status === 201) return toFirstStatus(response.body);
      else if (response.status === 409) return toExisting(order, response.body);
      else if (response.status === 404 && !has("caller: repeats a 404")) return undefined;
      else if (response.status === 503 && has("caller: does not repeat after a 503")) return undefined;
      else if (response.status === 429 && has("caller: does not repeat after a 429")) return undefined;
      else if (response.status === 403 && has("caller: takes a refusal after a lost response for a failure"))
        return "TERMINAL_FAILED";
      else if (response.status === 403 && has("caller: forgets its requestKey after a refusal"))
        return FORGOTTEN;
      else if (response.status < 404) return undefined;
      const retryAfter = has("caller: ignores Retry-After") ? 0 : 1000 * Number(response?.retryAfter ?? 0);
      if (attempt === maxAttempts) break;
      const longer = isEndless ? ENDLESS_WAIT_MS : FIRST_WAIT_MS * 2 ** attempt;
      const isHurried = response?.status === 500 && has("caller: repeats a 500 at once");
      const wait = isHurried || has("caller: repeats at once") ? 0 : longer;
      await pause(Math.max(wait, retryAfter));
    }
    return undefined;
  };

  async function send(
    { url, token, paymentId, reference }: Order,
    { amount, key }: { amount: number; key: string },
  ) {
    const request = {
      paymentId,
      amount: { currency: "USD", value: amount },
      ...(!has("caller: sends no reference") && { clientReferenceId: reference }),
      requestKey: key,
    };
    try {
      const headers = {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/json",
        Accept: "application/json",
      };
      const response = await fetch(`${url}/v1/refunds`, {
        method: "POST",
        redirect: has("caller: follows redirects") ? "follow" : "manual",
        headers,
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(isHasty ? TIMEOUT_MS : isPatient ? ENDLESS_MS : LONGER_MS),
      });
      if (response.status === 302 && has("caller: follows a 302 only"))
        await fetch(new URL(response.headers.get("location") ?? "", url), { headers });
      const text = await response.text();
      const retryAfter = response.headers.get("retry-after");
      if (/json/.test(response.headers.get("content-type") ?? "")) {
        return { status: response.status, retryAfter, body: JSON.parse(text) };
      }
      if (has("caller: reads each response as JSON")) return { status: 400, retryAfter, body: undefined };
      return { status: response.status, retryAfter, body: undefined };
    } catch (error) {
      timedOut = isHasty && (error as Error).name === "TimeoutError";
      return undefined;
    }
  }

  function toAmount(amount: string): number | undefined {
    if (has("caller: rounds to cents")) return Number(Number(amount).toFixed(2));
    if (!/^\d+(\.\d{1,2})?$/.test(amount)) return undefined;
    if (has("caller: keeps amounts in 32 bits")) return Number(Math.fround(Number(amount)).toFixed(2));
    if (has("caller: truncates to cents")) return Math.trunc(Number(amount) * 100) / 100;
    return Number(amount);
  }

  function isWaiting({ paymentStatus }: Refund, attempt: number): boolean {
    if (paymentStatus !== "PENDING" || attempt === 3) return false;
    return has("caller: makes a new requestKey while a refund waits");
  }

  function toFirstStatus({ paymentStatus, errorDetails }: Refund): string | undefined {
    const isDeadly = errorDetails?.errorCode === "AMOUNT_EXCEEDS_REFUNDABLE";
    if (isDeadly && has("caller: dies of an errorCode")) return undefined;
    if (has("caller: takes each 201 for a success"))
      return paymentStatus === "PENDING" ? paymentStatus : "AUTHORIZED";
    if (paymentStatus === "PENDING" && has("caller: takes a waiting refund for a success"))
      return "AUTHORIZED";
    return paymentStatus;
  }

  function toExisting(order: Order, { existing }: { existing: Record<string, unknown> }): string | undefined {
    if (has("caller: takes a 409 for a failure")) return undefined;
    const { value } = existing.amount as { value: number };
    const isOwn =
      (existing.originalPaymentId === order.paymentId || has("caller: ignores the payment of a 409")) &&
      (value === Number(order.amount) || has("caller: ignores the amount of a 409")) &&
      (existing.clientReferenceId === order.reference ||
        (existing.clientReferenceId === null &&
          has("caller: takes the 409 of a refund without a reference for its own")) ||
        has("caller: ignores the reference of a 409"));
    return isOwn || has("caller: takes any refund of a 409 for its own")
      ? String(existing.paymentStatus)
      : undefined;
  }
}
