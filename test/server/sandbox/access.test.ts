import { describe, expect, test } from "vitest";
import { countRows, dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { createSandboxMerchant, sandboxOf } from "../../helpers/sandbox.ts";
import { post, startTestServer, useTestServer } from "../../helpers/server.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");

const server = useTestServer({ realNow: () => NOW });
const sandbox = sandboxOf(server);

const SUBSCRIBE = "/v1/webhook/subscribe";
const TARGET = subscriptionTo("https://merchant.example.com/");

describe("POST /sandbox/tokens", () => {
  /** @decision D18 */
  test.each([
    [["refunds"], 201, 403],
    [["webhooks"], 403, 200],
  ])("makes a token with the scopes %j, which opens what they say", async (scopes, refund, subscribe) => {
    const { status, body } = await sandbox("createToken", { body: { scopes } });

    expect(status).toBe(201);
    expect(body).toEqual({ accessToken: expect.stringMatching(/^sandbox_[\w-]{32}$/), scopes });
    const token = body.accessToken;
    const refunded = await post(server.url, "/v1/refunds", refundOf("pay_settled"), { token });
    const subscribed = await post(server.url, SUBSCRIBE, TARGET, { token });
    expect([refunded.status, subscribed.status]).toEqual([refund, subscribe]);
  });

  test("makes another token each time, and every one opens the whole sandbox of the same merchant", async () => {
    const tokens = await Promise.all([1, 2].map(() => sandbox("createToken", { body: { scopes: [] } })));
    const [first, second] = tokens.map(({ body }) => body.accessToken);

    expect(first).not.toBe(second);
    const { body } = await sandbox("getPayment", { path: { paymentId: "pay_settled" }, token: first ?? "" });
    expect(body).toMatchObject({ paymentId: "pay_settled" });
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

  test("leaves access tokens and the clock, and what settles today settles today by that clock", async () => {
    const { accessToken: token } = (await sandbox("createToken", { body: { scopes: ["refunds"] } })).body;
    const { body: clock } = await sandbox("advanceClock", { body: { businessDays: 5 } });

    await sandbox("resetSandbox", { token });

    const { body } = await sandbox("getPayment", { path: { paymentId: "pay_recent" }, token });
    expect(body).toMatchObject({ settledAt: clock.now });
    expect((await sandbox("getClock")).body).toEqual({ now: clock.now });
  });

  test("gives nothing to a merchant that a fresh sandbox does not have", async () => {
    const merchant = await createSandboxMerchant(server);
    await merchant.create();

    await merchant.sandbox("resetSandbox");

    expect((await merchant.sandbox("listPayments")).body.items).toEqual([]);
  });
});
