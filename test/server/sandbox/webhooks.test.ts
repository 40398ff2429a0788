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
});

describe("deliveries", () => {
  test.each([[{ cursor: "bm90IGEgY3Vyc29y" }, "/query/cursor"]])(
    "are not listed by %j, and the response names %s",
    async (query: object, pointer) => {
      const response = await acme.sandbox("listDeliveries", { query: { ...query } });

      expect(problemOf(response)).toEqual(violationAt(pointer, expect.any(String)));
    },
  );
});
