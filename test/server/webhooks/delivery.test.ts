import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { refundOf } from "../../helpers/factories.ts";
import { type Received, respondWith, startReceiver } from "../../helpers/receiver.ts";
import { useTestServer } from "../../helpers/server.ts";
import { createSubscriber } from "../../helpers/subscriber.ts";
import { eventNames, findEventErrors } from "./event-schema.ts";

const server = useTestServer();

const summary = ({ event: { type, sequence } }: Received) => `${type} ${sequence}`;
const PLAIN = "correct horse battery staple";
const ENCODED = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe("a subscription", () => {
  /** @clause 10.1 10.2 @decision D19 D20 D21 */
  test("receives every event that there is, as the contract describes it", async () => {
    await using receiver = await startReceiver();
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);

    const processing = await acme.create({ status: "PROCESSING" });
    const body = refundOf(processing.paymentId);
    const refund = await acme.issue(body);
    await acme.sandbox("settlePayment", { path: { paymentId: processing.paymentId }, body: {} });
    await acme.sandbox("coverPayment", { path: { paymentId: processing.paymentId } });
    const failing = await acme.create({ status: "PROCESSING" });
    await acme.sandbox("failPayment", { path: { paymentId: failing.paymentId } });
    const authorized = await acme.refund();
    for (const type of ["account.linked", "account.unlinked", "customer.created"]) {
      await acme.sandbox("emitEvent", { body: { type, resourceId: "res_1" } });
    }

    const received = await receiver.first(9);
    expect(received.map(summary).toSorted()).toEqual([
      "account.linked 1",
      "account.unlinked 2",
      "customer.created 1",
      "payment.covered 2",
      "payment.failed 1",
      "payment.settled 1",
      "refund.authorized 1",
      "refund.pending 1",
      "refund.terminal_failed 2",
    ]);
    expect(new Set(received.map(({ event }) => event.type))).toEqual(new Set(eventNames()));
    expect(received.flatMap(({ event }) => findEventErrors(event))).toEqual([]);
    const dataOf = (type: string) => received.find(({ event }) => event.type === type)?.event.data;
    const { paymentId: originalPaymentId, amount, requestKey } = body;
    expect(dataOf("refund.pending")).toEqual({ ...refund.body, originalPaymentId, amount, requestKey });
    expect(dataOf("refund.authorized")).toMatchObject({ paymentId: authorized });
    const record = (await acme.get(refund.body.paymentId)) as { errorDetails?: object };
    expect(dataOf("refund.terminal_failed")).toEqual({
      ...{ ...refund.body, paymentStatus: "TERMINAL_FAILED", originalPaymentId, amount, requestKey },
      errorDetails: record.errorDetails,
    });
    expect(record.errorDetails).toMatchObject({ errorCode: "PAYMENT_COVERED" });
    expect(dataOf("payment.covered")).toEqual({
      ...{ paymentId: processing.paymentId, status: "COVERED", amount: processing.amount },
    });
    expect(dataOf("customer.created")).toEqual({ customerId: "res_1" });
  });

  /** @clause 4.2 10.2 @decision D21 D22 */
  test.each([
    ["a plain secret, by the raw option", PLAIN, new Webhook(PLAIN, { format: "raw" })],
    ["a plain secret, as whsec_ and base64", PLAIN, new Webhook(`whsec_${btoa(PLAIN)}`)],
    ["a whsec_ secret, as it is", ENCODED, new Webhook(ENCODED)],
  ])("receives what the stock library verifies: %s", async (_, secretKey, webhook) => {
    await using receiver = await startReceiver();
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url, { secretKey });

    const paymentId = await acme.refund();

    const [delivery] = await receiver.first(1);
    const headers = delivery?.headers as Record<string, string>;
    expect(webhook.verify(delivery?.body ?? "", headers)).toMatchObject({ data: { paymentId } });
    expect(headers["webhook-id"]).toMatch(
      /^msg_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(headers["content-type"]).toBe("application/json");
    expect(Buffer.byteLength(delivery?.body ?? "")).toBeLessThan(20_000);
  });

  /** @clause 1.4 4.7 4.8 10.1 */
  test.each([
    [{ type: "ALL" }, ["account.linked 1", "customer.created 1", "refund.authorized 1"]],
    [
      { type: "ALL", details: ["ACCOUNT"] },
      ["account.linked 1", "customer.created 1", "refund.authorized 1"],
    ],
    [{ type: "CATEGORY", details: ["ACCOUNT"] }, ["account.linked 1"]],
    [{ type: "CATEGORY", details: ["PAYMENT", "CUSTOMER"] }, ["customer.created 1", "refund.authorized 1"]],
    [{ type: "EVENT", details: ["refund.authorized"] }, ["refund.authorized 1"]],
    [{ type: "EVENT", details: ["refund.pending", "customer.created"] }, ["customer.created 1"]],
  ])("to %j receives %j of three events", async (subscriptionDetails, expected) => {
    await using receiver = await startReceiver();
    await using last = await startReceiver();
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url, { subscriptionDetails });
    await acme.subscribe(last.url);

    await acme.refund();
    await acme.sandbox("emitEvent", { body: { type: "account.linked", resourceId: "acc_1" } });
    await acme.sandbox("emitEvent", { body: { type: "customer.created", resourceId: "cus_1" } });

    await last.first(3);
    await receiver.first(expected.length);
    expect((await acme.deliveries()).length).toBe(3 + expected.length);
    expect(receiver.received.map(summary).toSorted()).toEqual(expected);
  });

  /** @decision D20a D26 */
  test("receives nothing of another merchant, of earlier, or of later than its end", async () => {
    await using receiver = await startReceiver();
    const [acme, other] = [await createSubscriber(server), await createSubscriber(server)];
    await acme.refund();
    const key = await acme.subscribe(receiver.url);
    await other.refund();
    const between = await acme.refund();
    await receiver.first(1);
    await acme.sandbox("endSubscription", { path: { subscriptionKey: key } });
    await acme.refund();

    expect((await acme.deliveries()).map((delivery) => delivery.resourceId)).toEqual([between]);
    expect(await other.deliveries()).toEqual([]);
  });
});

describe("the list of deliveries", () => {
  test("lists what was sent, with the results", async () => {
    await using receiver = await startReceiver(respondWith(200));
    const acme = await createSubscriber(server);
    const subscriptionKey = await acme.subscribe(receiver.url);
    const before = Date.now();

    const resourceId = await acme.refund();

    const delivery = await acme.delivery("DELIVERED", 1);
    const [received] = receiver.received;
    expect(delivery).toEqual({
      webhookId: received?.webhookId,
      subscriptionKey,
      type: "refund.authorized",
      resourceId,
      state: "DELIVERED",
      dueAt: null,
      attempts: [{ at: expect.any(String), status: 200, error: null, milliseconds: expect.any(Number) }],
    });
    const at = Date.parse(delivery.attempts[0]?.at ?? "");
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
    expect(received?.headers["webhook-timestamp"]).toBe(`${Math.floor(at / 1_000)}`);
  });

  test("is turned page by page, newest first, for all subscriptions or for one", async () => {
    await using receiver = await startReceiver();
    const acme = await createSubscriber(server);
    const [key, other] = [await acme.subscribe(receiver.url), await acme.subscribe(receiver.url)];
    const refunds = [await acme.refund(), await acme.refund(), await acme.refund()];
    await receiver.first(6);

    const first = await acme.sandbox("listDeliveries", { query: { limit: 4 } });
    const cursor = first.body.nextCursor ?? "";
    const second = await acme.sandbox("listDeliveries", { query: { limit: 4, cursor } });

    const all = [...first.body.items, ...second.body.items];
    expect([first.body.items.length, second.body.items.length, second.body.nextCursor]).toEqual([4, 2, null]);
    expect(all.map(({ resourceId }) => resourceId)).toEqual(
      refunds.toReversed().flatMap((refund) => [refund, refund]),
    );
    for (const subscriptionKey of [key, other]) {
      const items = await acme.deliveries({ subscriptionKey });
      expect(items.map(({ resourceId }) => resourceId)).toEqual(refunds.toReversed());
      expect(new Set(items.map((item) => item.subscriptionKey))).toEqual(new Set([subscriptionKey]));
    }
  });
});
