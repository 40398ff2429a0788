import { describe, expect, test } from "vitest";
import { EVENT_CATEGORIES } from "../../../server/domain/events.ts";
import {
  createMerchant,
  type InvalidRequest,
  type Subscription,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

const EVENTS = Object.keys(EVENT_CATEGORIES);
const CATEGORIES = ["ACCOUNT", "CUSTOMER", "PAYMENT"];

describe("POST /v1/webhook/subscribe", () => {
  const server = useTestServer();

  /** @clause 1.4 4.1 4.3 4.4 4.5 4.6 4.7 4.8 5.1 8.1 8.3 8.4 @decision D03 D05 D24 D26 */
  test.each([
    ["everything", { type: "ALL" }, []],
    ["everything, with an empty list", { type: "ALL", details: [] }, []],
    [
      "everything, with a list that is ignored",
      { type: "ALL", details: Array(64).fill("x".repeat(255)) },
      [],
    ],
    ["every event by name", { type: "EVENT", details: EVENTS }, EVENTS],
    ["an event that is named twice", { type: "EVENT", details: [EVENTS[0], EVENTS[0]] }, EVENTS.slice(0, 1)],
    ["every category", { type: "CATEGORY", details: CATEGORIES }, CATEGORIES],
    ["a category that is named twice", { type: "CATEGORY", details: ["PAYMENT", "PAYMENT"] }, ["PAYMENT"]],
  ])("stores a subscription to %s, its url as it stands", async (_name, subscriptionDetails, details) => {
    const { token } = await createMerchant(server);
    const url = "http://2130706433:9/a%20b?c=d&e=%2F";
    const request = subscriptionTo(url, { subscriptionDetails });

    const subscribed = await post<Subscription>(server.url, "/v1/webhook/subscribe", request, { token });

    expect([subscribed.status, subscribed.body]).toEqual([
      200,
      { subscriptionKey: expect.stringMatching(/^sub_/) },
    ]);
    const stored = await server.database.db
      .selectFrom("subscriptions")
      .select(["url", "type", "details", "ended_at"])
      .where("subscription_key", "=", subscribed.body.subscriptionKey)
      .executeTakeFirst();
    expect(stored).toEqual({ url, type: subscriptionDetails.type, details, ended_at: null });
  });

  /** @clause 4.1 @decision D24 */
  test.each([
    ...["https:merchant.example.com", "https:/merchant.example.com", "https:///webhooks", "https:////host/"],
    ...[
      "https:\\\\merchant.example.com",
      "https://@merchant.example.com/",
      "https://:@merchant.example.com/",
    ],
    ...[
      "https://user@merchant.example.com/",
      "ftp://merchant.example.com/",
      "/webhooks",
      "webhooks",
      " https://a.b",
    ],
    ...["https://merchant.example.com/#part", "https://merchant.example.com#"],
  ])("refuses the url %s", async (url) => {
    const { status, body } = await post<InvalidRequest>(
      server.url,
      "/v1/webhook/subscribe",
      subscriptionTo(url),
    );

    expect(status).toBe(400);
    expect(body.violations).toEqual([{ pointer: "/url", message: expect.stringMatching(/^must be /) }]);
  });
});
