import { describe, expect, test } from "vitest";
import { createMerchant, type Subscription, subscriptionTo } from "../../helpers/factories.ts";
import { createSandboxMerchant, eventsOf, notFound, problemOf, violationAt } from "../../helpers/sandbox.ts";
import { post, useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");

const server = useTestServer({ realNow: () => NOW });
const acme = forEachTest(() => createSandboxMerchant(server));

describe("POST /sandbox/events", () => {
  const emit = (body: unknown) => acme.sandbox("emitEvent", { body });

  /** @decision D20 D21 */
  test("emits the events of an account, and counts them", async () => {
    const resourceId = `acc_${acme.merchant}`.slice(0, 64);

    const linked = await emit({ type: "account.linked", resourceId });
    const unlinked = await emit({ type: "account.unlinked", resourceId });

    expect([linked.status, unlinked.status]).toEqual([202, 202]);
    expect(linked.body).toEqual({ type: "account.linked", resourceId, sequence: 1 });
    expect(unlinked.body).toEqual({ type: "account.unlinked", resourceId, sequence: 2 });
    expect(await eventsOf(server, resourceId)).toEqual([
      { type: "account.linked", sequence: 1, occurred_at: NOW },
      { type: "account.unlinked", sequence: 2, occurred_at: NOW },
    ]);
  });

  test("counts an account, a customer of the same id, and another merchant's account each from 1", async () => {
    const { token } = await createMerchant(server);
    const body = { type: "account.linked", resourceId: "shared" };

    const responses = [
      await emit(body),
      await emit({ ...body, type: "customer.created" }),
      await acme.sandbox("emitEvent", { body, token }),
    ];

    expect(responses.map((response) => response.body.sequence)).toEqual([1, 1, 1]);
  });

  test("counts calls at the same time without a gap", async () => {
    const body = { type: "account.linked", resourceId: "busy" };

    const responses = await Promise.all(Array.from({ length: 10 }, () => emit(body)));

    const counted = responses.map((response) => response.body.sequence).toSorted((a, b) => a - b);
    expect(counted).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe("DELETE /sandbox/subscriptions/{subscriptionKey}", () => {
  const NOT_LIVE = notFound("You have no live subscription with this subscriptionKey.");
  const subscribe = async () => {
    const body = subscriptionTo("https://merchant.example.com/");
    const options = { token: acme.token };
    return (await post<Subscription>(server.url, "/v1/webhook/subscribe", body, options)).body
      .subscriptionKey;
  };
  const end = (subscriptionKey: string, token = acme.token) =>
    acme.sandbox("endSubscription", { path: { subscriptionKey }, token });

  /** @clause 5.1 @decision D26 */
  test("ends a subscription, once", async () => {
    const [key, other] = [await subscribe(), await subscribe()];

    expect(await end(key)).toMatchObject({ status: 204, body: undefined });

    expect(problemOf(await end(key))).toEqual(NOT_LIVE);
    expect((await end(other)).status).toBe(204);
  });

  test("ends no subscription of another merchant", async () => {
    const key = await subscribe();
    const { token } = await createMerchant(server);

    expect(problemOf(await end(key, token))).toEqual(NOT_LIVE);
    expect((await end(key)).status).toBe(204);
  });

  test("knows no subscription that does not exist", async () => {
    expect(problemOf(await end("sub_unknown"))).toEqual(NOT_LIVE);
  });
});

describe("deliveries", () => {
  test("are none for a merchant to whom nothing was sent", async () => {
    expect((await acme.sandbox("listDeliveries")).body).toEqual({ items: [], nextCursor: null });
    const query = { subscriptionKey: "sub_1", limit: 5 };
    expect((await acme.sandbox("listDeliveries", { query })).body).toEqual({ items: [], nextCursor: null });
  });

  test.each([[{ cursor: "bm90IGEgY3Vyc29y" }, "/query/cursor"]])(
    "are not listed by %j, and the response names %s",
    async (query: object, pointer) => {
      const response = await acme.sandbox("listDeliveries", { query: { ...query } });

      expect(problemOf(response)).toEqual(violationAt(pointer, expect.any(String)));
    },
  );

  test("are not sent again when there is none with the webhookId", async () => {
    const response = await acme.sandbox("redeliver", { path: { webhookId: "msg_unknown" } });

    expect(problemOf(response)).toEqual(
      notFound(
        "You have no delivery with this webhookId whose subscription is live. List your deliveries to find it.",
      ),
    );
  });
});
