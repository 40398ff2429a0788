import { describe, expect, test } from "vitest";
import {
  createMerchant,
  type InvalidRequest,
  type Subscription,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

describe("POST /v1/webhook/subscribe", () => {
  const server = useTestServer();

  test.each([
    ["everything", { type: "ALL" }, []],
    ["everything, with a list that is ignored", { type: "ALL", details: ["x"] }, []],
    [
      "an event that is named twice",
      { type: "EVENT", details: ["refund.pending", "refund.pending"] },
      ["refund.pending"],
    ],
    ["categories", { type: "CATEGORY", details: ["ACCOUNT", "PAYMENT"] }, ["ACCOUNT", "PAYMENT"]],
  ])("stores a subscription to %s, its url as it stands", async (_name, subscriptionDetails, details) => {
    const { token } = await createMerchant(server);
    const url = "http://2130706433:9/a%20b?c=d&e=%2F";
    const request = subscriptionTo(url, { subscriptionDetails });

    const { status, body } = await post<Subscription>(server.url, "/v1/webhook/subscribe", request, {
      token,
    });

    expect([status, body]).toEqual([200, { subscriptionKey: expect.stringMatching(/^sub_/) }]);
    const stored = await server.database.db
      .selectFrom("subscriptions")
      .select(["url", "type", "details", "ended_at"])
      .where("subscription_key", "=", body.subscriptionKey)
      .executeTakeFirst();
    expect(stored).toEqual({ url, type: subscriptionDetails.type, details, ended_at: null });
  });

  test.each([
    "https:/a.example",
    "https:////a.example/",
    "https:\\\\a.example",
    "https://:@a.example/",
    " https://a.example",
  ])("refuses the url %s", async (url) => {
    const request = subscriptionTo(url);
    const { body } = await post<InvalidRequest>(server.url, "/v1/webhook/subscribe", request);

    expect(body.violations).toEqual([{ pointer: "/url", message: expect.stringMatching(/^must be /) }]);
  });
});
