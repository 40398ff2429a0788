import { beforeAll, describe, expect, test } from "vitest";
import type { SandboxId } from "../../../server/contract/operation-types.ts";
import { countRows, dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { createSubscriber, until } from "../../helpers/receiver.ts";
import { createSandboxMerchant, problemOf, sandboxOf } from "../../helpers/sandbox.ts";
import { post, startTestServer, useTestServer } from "../../helpers/server.ts";
import { forSuite } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");

const server = useTestServer({ realNow: () => NOW });
const sandbox = sandboxOf(server);

const SUBSCRIBE = "/v1/webhook/subscribe";
const TARGET = subscriptionTo("https://merchant.example.com/");

describe("POST /sandbox/tokens", () => {
  test.each([
    [["refunds"], 201, 403],
    [["webhooks"], 403, 200],
  ])("makes a token that is allowed what its scopes %j say", async (scopes, refund, subscribe) => {
    const { status, body } = await sandbox("createToken", { body: { scopes } });

    expect(status).toBe(201);
    expect(body).toEqual({ accessToken: expect.stringMatching(/^sandbox_[\w-]{32}$/), scopes });
    const token = body.accessToken;
    const refunded = await post(server.url, "/v1/refunds", refundOf("pay_settled"), { token });
    const subscribed = await post(server.url, SUBSCRIBE, TARGET, { token });
    expect([refunded.status, subscribed.status]).toEqual([refund, subscribe]);
  });
});

describe("POST /sandbox/reset", () => {
  test("brings back the records of a fresh sandbox, and only those, without an event", async () => {
    await using fresh = await startTestServer({ realNow: () => NOW });
    const acme = sandboxOf(fresh);
    const records = async () => (await acme("listPayments", { query: { limit: 100 } })).body;
    const before = await records();
    await acme("createPayment", { body: { amount: dollars(5), requestKey: "debit-1" } });
    await acme("failPayment", { path: { paymentId: "pay_recent" } });
    const request = refundOf("pay_settled");
    await post(fresh.url, "/v1/refunds", request);
    await post(fresh.url, SUBSCRIBE, TARGET);

    expect(await acme("resetSandbox")).toMatchObject({ status: 204, body: undefined });

    expect(await records()).toEqual(before);
    // Besides acme's fixtures, only globex's one payment is left.
    expect(await countRows(fresh)).toEqual({
      payments: before.items.length + 1,
      events: 0,
      subscriptions: 0,
    });
    expect((await post(fresh.url, "/v1/refunds", request)).status).toBe(201);
  });
});

/** Calls that read or change one record. */
const OF_ONE: [id: SandboxId, body?: object][] = [
  ...(["getPayment", "failPayment", "coverPayment"] as const).map((id): [SandboxId] => [id]),
  ...(["getDelivery", "redeliver"] as const).map((id): [SandboxId] => [id]),
  ...(["getSubscription", "endSubscription"] as const).map((id): [SandboxId] => [id]),
  ["settlePayment", {}],
  ["rotateSecret", { secretKey: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }],
];

describe("the records of a merchant", () => {
  const acme = forSuite(() => createSubscriber(server));
  const other = forSuite(() => createSandboxMerchant(server));
  const path = { paymentId: "", subscriptionKey: "", webhookId: "" };

  beforeAll(async () => {
    path.subscriptionKey = await acme.subscribe("http://127.0.0.1:9/");
    path.paymentId = (await acme.create({ status: "PROCESSING" })).paymentId;
    await acme.refund();
    await acme.sandbox("armFault", { body: { kind: "TWICE" } });
    path.webhookId = (await until(async () => (await acme.deliveries())[0])).webhookId;
  });

  test.each(OF_ONE)("get another merchant the 404 of records that don't exist (%s)", async (id, body) => {
    const state = async () => [
      await acme.get(path.paymentId),
      (await acme.sandbox("getSubscription", { path })).body,
    ];
    const before = await state();
    const unknown = { paymentId: "pay_1", subscriptionKey: "sub_1", webhookId: "msg_1" };

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
