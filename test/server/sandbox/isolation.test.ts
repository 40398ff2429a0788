import { beforeAll, describe, expect, test } from "vitest";
import type { SandboxId } from "../../../server/contract/operations.ts";
import { createSandboxMerchant, problemOf } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { createSubscriber, until } from "../../helpers/subscriber.ts";
import { forSuite } from "../../helpers/suite.ts";

/** Calls that read or change one record. */
const OF_ONE: [id: SandboxId, body?: object][] = [
  ...(["getPayment", "failPayment", "coverPayment"] as const).map((id): [SandboxId] => [id]),
  ...(["getDelivery", "redeliver", "getEvent"] as const).map((id): [SandboxId] => [id]),
  ...(["getSubscription", "endSubscription"] as const).map((id): [SandboxId] => [id]),
  ["settlePayment", {}],
  ["rotateSecret", { secretKey: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }],
];

/** @decision D25 D26 */
describe("the records of a merchant", () => {
  const server = useTestServer();
  const acme = forSuite(() => createSubscriber(server));
  const other = forSuite(() => createSandboxMerchant(server));
  const path = { paymentId: "", subscriptionKey: "", eventId: "", webhookId: "" };

  beforeAll(async () => {
    path.subscriptionKey = await acme.subscribe("http://127.0.0.1:9/");
    path.paymentId = (await acme.create({ status: "PROCESSING" })).paymentId;
    await acme.refund();
    await acme.sandbox("armFault", { body: { kind: "TWICE" } });
    const { webhookId } = await until(async () => (await acme.deliveries())[0]);
    const { body } = await acme.sandbox("getDelivery", { path: { webhookId } });
    Object.assign(path, { webhookId, eventId: body.eventId });
  });

  test.each(OF_ONE)("are to another merchant as those that do not exist (%s)", async (id, body) => {
    const state = async () => [
      await acme.get(path.paymentId),
      (await acme.sandbox("getSubscription", { path })).body,
    ];
    const before = await state();
    const unknown = { paymentId: "pay_1", subscriptionKey: "sub_1", eventId: "evt_1", webhookId: "msg_1" };

    const foreign = problemOf(await other.sandbox(id, { path, body }));

    expect(foreign.status).toBe(404);
    expect(foreign).toEqual(problemOf(await other.sandbox(id, { path: unknown, body })));
    expect(await state()).toEqual(before);
  });

  test.each([
    ...(["listPayments", "listRequests", "listFaults"] as const),
    ...(["listSubscriptions", "listEvents", "listDeliveries"] as const),
  ])("are in no other merchant's list (%s)", async (id) => {
    expect((await acme.sandbox(id)).body.items.length).toBeGreaterThan(0);
    expect((await other.sandbox(id)).body.items).toEqual([]);
  });
});
