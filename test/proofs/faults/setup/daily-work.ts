import { expect, vi } from "vitest";
import { verifyWebhook } from "../../../../client/src/webhooks/verify.ts";
import {
  dollars,
  type Refund,
  refundOf,
  type Subscription,
  subscriptionTo,
} from "../../../helpers/factories.ts";
import { type Received, startReceiver } from "../../../helpers/receiver.ts";
import { send } from "./load.ts";

/** Runs an operator's command; resolves with its exit code and what it printed. */
export type RunAdmin = (
  args: readonly string[],
) => Promise<{ code: number | null; stdout: string; stderr: string }>;

const MERCHANT = "acme";
/** Much more than a server needs for anything that it does by itself. */
const LIMIT_MS = 30_000;

const eventually = (assert: () => unknown) => vi.waitFor(assert, { timeout: LIMIT_MS, interval: 50 });

/**
 * Has a sandbox do everything that a server does: refunds, now and when they are due, their deliveries and the payout feed; and
 * an operator everything that changes what a server does. Rejects with the part that does not work.
 */
export async function doDailyWork(server: { readonly url: string }, admin: RunAdmin): Promise<void> {
  const secretKey = `secret ${crypto.randomUUID()}`;
  await using receiver = await startReceiver();

  /** A server's statement may fail once with 503 on a table that got a column. */
  async function call<Body>(path: string, body: unknown, status: number): Promise<Body> {
    const first = await send<Body>(server.url, path, body);
    const response = first?.status === 503 ? await send<Body>(server.url, path, body) : first;
    expect(response).toMatchObject({ status });
    return (response as { body: Body }).body;
  }
  const pay = (fields = {}) =>
    call<{ paymentId: string }>("/sandbox/payments", { amount: dollars(100), ...fields }, 201);
  const received = (paymentId: string, type = "refund.authorized"): Received[] =>
    receiver.received.filter(({ event }) => event.type === type && event.data.paymentId === paymentId);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await admin(args);
    expect(`${code} ${stderr}`).toBe("0 ");
    return stdout;
  };

  const [settled, subscription, refund] = await inPart("refunds", async () => {
    const { paymentId } = await pay();
    const subscribed = await call<Subscription>(
      "/v1/webhook/subscribe",
      subscriptionTo(receiver.url, { secretKey }),
      200,
    );
    const request = refundOf(paymentId);
    const issued = await call<Refund>("/v1/refunds", request, 201);
    await call("/v1/refunds", request, 409);
    return [paymentId, subscribed.subscriptionKey, issued];
  });
  const delivery = await inPart("deliveries", async () => {
    await eventually(() => expect(received(refund.paymentId)).toHaveLength(1));
    const [first] = received(refund.paymentId) as [Received];
    verifyWebhook(first.body, first.headers, secretKey);
    return first;
  });
  await inPart("due refunds", async () => {
    const { now } = (await (
      await fetch(`${server.url}/sandbox/clock`, { headers: { Authorization: `Bearer sandbox_${MERCHANT}` } })
    ).json()) as { now: string };
    const { paymentId } = await pay({ settledAt: now });
    const due = await call<Refund>("/v1/refunds", refundOf(paymentId), 201);
    expect(due.paymentStatus).toBe("PENDING");
    await call("/sandbox/clock/advance", { by: "P30D" }, 200);
    await eventually(() => expect(received(due.paymentId)).toHaveLength(1));
  });
  await inPart("payouts", () =>
    eventually(async () =>
      expect(await run("payouts", "--after", "0", "--limit", "1000")).toContain(refund.paymentId),
    ),
  );
  await inPart("redeliver", async () => {
    await run("redeliver", delivery.webhookId);
    await eventually(() => expect(received(refund.paymentId)).toHaveLength(2));
  });
  await inPart("hold", async () => {
    await run("hold", "--merchant", MERCHANT, "--reason", "upgrade");
    const held = await call<Refund>("/v1/refunds", refundOf(settled), 201);
    expect(held.paymentStatus).toBe("PENDING");
    await run("release", "--merchant", MERCHANT);
    await eventually(() => expect(received(held.paymentId)).toHaveLength(1));
  });
  await inPart("block", async () => {
    await run("block", "--merchant", MERCHANT, "--reason", "upgrade");
    await eventually(() => call("/v1/refunds", {}, 401));
    await run("unblock", "--merchant", MERCHANT);
    await eventually(() => call("/v1/refunds", {}, 400));
  });
  await inPart("subscriptions", async () => {
    expect(await run("subscriptions", "--merchant", MERCHANT)).toContain(subscription);
    await run("subscriptions", "disable", subscription);
  });
  await inPart("check", () => run("check"));
}

/** Names the part of the work that failed. */
async function inPart<Result>(part: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${part}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
