import { describe, expect, test } from "vitest";
import { EVENT_NAMES } from "../../../openapi/generated/values.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSubscriber, type Received, startReceiver } from "../../helpers/receiver.ts";
import { useTestServer } from "../../helpers/server.ts";
import { EMITTED_EVENTS, findEventErrors } from "./event-schema.ts";

const server = useTestServer();

const summary = ({ event: { type, sequence } }: Received) => `${type} ${sequence}`;

describe("a subscription", () => {
  test("receives every event that there is, as the contract describes it", async () => {
    await using receiver = await startReceiver();
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);

    const { paymentId, amount: ofPayment } = await acme.create({ status: "PROCESSING" });
    const body = refundOf(paymentId);
    const refund = await acme.issue(body);
    await acme.sandbox("settlePayment", { path: { paymentId }, body: {} });
    await acme.sandbox("coverPayment", { path: { paymentId } });
    const failing = await acme.create({ status: "PROCESSING" });
    await acme.sandbox("failPayment", { path: { paymentId: failing.paymentId } });
    const authorized = await acme.refund();
    for (const type of EMITTED_EVENTS)
      await acme.sandbox("emitEvent", { body: { type, resourceId: "res_1" } });

    const received = await receiver.first(EVENT_NAMES.length);
    expect(received.map(({ event }) => event.type).toSorted()).toEqual(EVENT_NAMES.toSorted());
    const later = ["account.unlinked 2", "payment.covered 2", "refund.terminal_failed 2"];
    expect(received.map(summary)).toEqual(expect.arrayContaining(later));
    expect(received.flatMap(({ event }) => findEventErrors(event))).toEqual([]);
    const dataOf = (type: string) => received.find(({ event }) => event.type === type)?.event.data;
    const { amount, requestKey } = body;
    const pending = { ...refund.body, originalPaymentId: paymentId, amount, requestKey };
    expect(dataOf("refund.pending")).toEqual(pending);
    expect(dataOf("refund.authorized")).toMatchObject({ paymentId: authorized });
    const { errorDetails } = (await acme.get(refund.body.paymentId)) as { errorDetails?: object };
    expect(dataOf("refund.terminal_failed")).toEqual({
      ...{ ...pending, paymentStatus: "TERMINAL_FAILED", errorDetails },
    });
    expect(errorDetails).toMatchObject({ errorCode: "PAYMENT_COVERED" });
    expect(dataOf("payment.covered")).toEqual({ paymentId, status: "COVERED", amount: ofPayment });
    expect(dataOf("customer.created")).toEqual({ customerId: "res_1" });
  });

  test("receives the events that it selects", async () => {
    await using receiver = await startReceiver();
    const acme = await createSubscriber(server);
    const all = ["account.linked 1", "customer.created 1", "refund.authorized 1"];
    const selections: [subscriptionDetails: object, expected: string[]][] = [
      [{ type: "ALL" }, all],
      [{ type: "ALL", details: ["ACCOUNT"] }, all],
      [{ type: "CATEGORY", details: ["ACCOUNT"] }, ["account.linked 1"]],
      [{ type: "CATEGORY", details: ["PAYMENT", "CUSTOMER"] }, all.slice(1)],
      [{ type: "EVENT", details: ["refund.authorized"] }, ["refund.authorized 1"]],
      [{ type: "EVENT", details: ["refund.pending", "customer.created"] }, ["customer.created 1"]],
    ];
    for (const [index, [subscriptionDetails]] of selections.entries())
      await acme.subscribe(`${receiver.url}/${index}`, { subscriptionDetails });

    await acme.refund();
    await acme.sandbox("emitEvent", { body: { type: "account.linked", resourceId: "acc_1" } });
    await acme.sandbox("emitEvent", { body: { type: "customer.created", resourceId: "cus_1" } });

    const expected = selections.map(([, events]) => events);
    const received = await receiver.first(expected.flat().length);
    expect((await acme.deliveries()).length).toBe(received.length);
    const receivedBy = (index: number) =>
      received.filter(({ target }) => target === `/hooks/${index}`).map(summary);
    expect(selections.map((_, index) => receivedBy(index).toSorted())).toEqual(expected);
  });

  test("receives no events of another merchant, from before its start or after its end", async () => {
    await using receiver = await startReceiver();
    const [acme, other] = [await createSubscriber(server), await createSubscriber(server)];
    await acme.refund();
    const subscriptionKey = await acme.subscribe(receiver.url);
    await other.refund();
    const between = await acme.refund();
    await receiver.first(1);
    await acme.sandbox("endSubscription", { path: { subscriptionKey } });
    await acme.refund();

    expect((await acme.deliveries()).map((delivery) => delivery.resourceId)).toEqual([between]);
    expect(await other.deliveries()).toEqual([]);
  });
});
