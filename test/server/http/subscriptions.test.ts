import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EVENT_CATEGORIES } from "../../../server/domain/events.ts";
import { engines } from "../../helpers/engine.ts";
import {
  countRows,
  createMerchant,
  type InvalidRequest,
  type Subscription,
  subscriptionTo,
} from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

const EVENTS = Object.keys(EVENT_CATEGORIES);
const TARGET = "http://127.0.0.1:9/webhooks";

describe.each(engines)("POST /v1/webhook/subscribe on %s", (engine) => {
  const server = useTestServer({ engine });

  /** Subscribes as a new merchant, because each can have only a hundred subscriptions. */
  const subscribe = async (body: unknown) => {
    const { token } = await createMerchant(server);
    return post<Subscription & InvalidRequest>(server.url, "/v1/webhook/subscribe", body, { token });
  };

  async function stored(subscriptionKey: string) {
    const { db } = server.database;
    const query = db.selectFrom("subscriptions").select(["url", "type", "details", "ended_at"]);
    return query.where("subscription_key", "=", subscriptionKey).executeTakeFirst();
  }

  /** @clause 1.4 4.1 4.3 4.4 4.5 4.6 4.7 4.8 5.1 8.1 8.3 8.4 @decision D03 D05 */
  test.each([
    ["everything", { type: "ALL" }, []],
    ["everything, with an empty list", { type: "ALL", details: [] }, []],
    ["everything, with a list that is ignored", { type: "ALL", details: Array(64).fill("junk") }, []],
    ["everything, with long texts that are ignored", { type: "ALL", details: ["x".repeat(255)] }, []],
    ["every event by name", { type: "EVENT", details: EVENTS }, EVENTS],
    [
      "an event that is named twice",
      { type: "EVENT", details: Array(64).fill(EVENTS[0]) },
      EVENTS.slice(0, 1),
    ],
    [
      "every category",
      { type: "CATEGORY", details: ["ACCOUNT", "CUSTOMER", "PAYMENT"] },
      ["ACCOUNT", "CUSTOMER", "PAYMENT"],
    ],
    ["a category that is named twice", { type: "CATEGORY", details: ["PAYMENT", "PAYMENT"] }, ["PAYMENT"]],
  ])("responds with 200 and a key to a subscription to %s", async (_name, subscriptionDetails, details) => {
    const { status, headers, body } = await subscribe(subscriptionTo(TARGET, { subscriptionDetails }));

    expect({ status, body }).toEqual({
      status: 200,
      body: { subscriptionKey: expect.stringMatching(/^sub_/) },
    });
    expect(headers.get("content-type")).toBe("application/json");
    const { type } = subscriptionDetails;
    expect(await stored(body.subscriptionKey)).toEqual({ url: TARGET, type, details, ended_at: null });
  });

  /** @clause 5.1 @decision D26 */
  test("makes a new subscription for each call, also for the same", async () => {
    const request = subscriptionTo(TARGET);

    const first = await post<Subscription>(server.url, "/v1/webhook/subscribe", request);
    const second = await post<Subscription>(server.url, "/v1/webhook/subscribe", request);

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.body.subscriptionKey).not.toBe(second.body.subscriptionKey);
  });

  /** Sends a body that is refused, and expects that nothing was stored. */
  async function refuse(body: unknown) {
    const before = await countRows(server);
    const response = await subscribe(body);
    expect([response.status, response.body.errorDetails?.errorCode]).toEqual([400, "INVALID_REQUEST"]);
    expect(await countRows(server)).toEqual(before);
    return response.body.violations;
  }

  const details = (subscriptionDetails: unknown) => subscriptionTo(TARGET, { subscriptionDetails });
  const at = (name: string) => `/subscriptionDetails/details${name}`;

  /** @clause 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 8.3 @decision D03 D07 D15 */
  test.each<[name: string, body: unknown, pointers: string[]]>([
    ["nothing", {}, ["/url", "/secretKey", "/subscriptionDetails"]],
    ["an unknown field", subscriptionTo(TARGET, { event: "x" }), ["/event"]],
    ["no details", { url: TARGET, secretKey: "s" }, ["/subscriptionDetails"]],
    ["details that are null", details(null), ["/subscriptionDetails"]],
    ["details that are a list", details(["ALL"]), ["/subscriptionDetails"]],
    ["details without a type", details({ details: ["PAYMENT"] }), ["/subscriptionDetails/type"]],
    ["an unknown type", details({ type: "SOME" }), ["/subscriptionDetails/type"]],
    ["a type in lower case", details({ type: "all" }), ["/subscriptionDetails/type"]],
    ["a type that is null", details({ type: null }), ["/subscriptionDetails/type"]],
    ["an unknown field beside the type", details({ type: "ALL", url: 1 }), ["/subscriptionDetails/url"]],
    ["EVENT without a list", details({ type: "EVENT" }), [at("")]],
    ["CATEGORY without a list", details({ type: "CATEGORY" }), [at("")]],
    ["EVENT with an empty list", details({ type: "EVENT", details: [] }), [at("")]],
    ["CATEGORY with an empty list", details({ type: "CATEGORY", details: [] }), [at("")]],
    ["EVENT with a bare text", details({ type: "EVENT", details: EVENTS[0] }), [at("")]],
    ["CATEGORY with a bare text", details({ type: "CATEGORY", details: "PAYMENT" }), [at("")]],
    ["ALL with a bare text", details({ type: "ALL", details: "junk" }), [at("")]],
    ["EVENT with 65 names", details({ type: "EVENT", details: Array(65).fill(EVENTS[0]) }), [at("")]],
    ["ALL with a text of 256", details({ type: "ALL", details: ["x".repeat(256)] }), [at("/0")]],
    ["ALL with 65 texts", details({ type: "ALL", details: Array(65).fill("junk") }), [at("")]],
    ["ALL with a number in its list", details({ type: "ALL", details: ["junk", 1] }), [at("/1")]],
    ["an unknown event", details({ type: "EVENT", details: [EVENTS[0], "refund.failed"] }), [at("/1")]],
    ["an event in capitals", details({ type: "EVENT", details: ["REFUND.PENDING"] }), [at("/0")]],
    ["a category for an event", details({ type: "EVENT", details: ["PAYMENT"] }), [at("/0")]],
    [
      "an event for a category",
      details({ type: "CATEGORY", details: [EVENTS[0], "REFUND"] }),
      [at("/0"), at("/1")],
    ],
    ["an event that is null", details({ type: "EVENT", details: [null] }), [at("/0")]],
    ["an empty secretKey", subscriptionTo(TARGET, { secretKey: "" }), ["/secretKey"]],
    ["a secretKey of 257", subscriptionTo(TARGET, { secretKey: "😀".repeat(257) }), ["/secretKey"]],
    ["a secretKey with U+0000", subscriptionTo(TARGET, { secretKey: "a\0" }), ["/secretKey"]],
    ["a secretKey that is a number", subscriptionTo(TARGET, { secretKey: 1 }), ["/secretKey"]],
    ["a url that is null", subscriptionTo(TARGET, { url: null }), ["/url"]],
    ["a url of 2049", subscriptionTo(`${TARGET}?${"x".repeat(2049 - TARGET.length - 1)}`), ["/url"]],
  ])("gets the pointer of the wrong field (%s)", async (_name, body, pointers) => {
    expect((await refuse(body)).map(({ pointer }) => pointer).sort()).toEqual(pointers.sort());
  });

  /** @clause 4.5 @decision D03 */
  test("gets a violation that asks for a list when it sent a bare text", async () => {
    const violations = await refuse(details({ type: "EVENT", details: "refund.pending" }));

    expect(violations).toEqual([{ pointer: at(""), message: "must be a list, also for a single value" }]);
  });

  /** @clause 4.8 @decision D03 */
  test("gets the known events when it named another", async () => {
    const violations = await refuse(details({ type: "EVENT", details: ["refund.failed"] }));

    expect(violations).toEqual([{ pointer: at("/0"), message: `must be one of: ${EVENTS.join(", ")}` }]);
  });

  describe("with a url", () => {
    /** @clause 4.1 @decision D24 */
    test.each(
      [
        [
          "",
          "/webhooks",
          "merchant.example.com",
          "https://",
          "https://exa mple.com/",
          "https://[::1",
          "nonsense",
        ],
        ["ftp://localhost/", "file:///etc/passwd", "javascript:alert(1)", "https://merchant.example.com:0/"],
        ["https://user:secret@merchant.example.com/", "https://user@merchant.example.com/"],
        [
          "https://10.0.0.1/",
          "https://172.16.0.1/",
          "https://192.168.0.1/",
          "http://100.64.0.1/",
          "https://[fd00::1]/",
        ],
        [
          "http://169.254.169.254/",
          "https://198.18.0.1/",
          "https://224.0.0.1/",
          "http://0.0.0.0/",
          "http://0/",
        ],
        [
          "https://[64:ff9b::7f00:1]/",
          "https://[2002:7f00:1::]/",
          "https://[fe80::1]/",
          "https://[::ffff:10.0.0.1]/",
        ],
        [
          "https:///webhooks",
          "https:merchant.example.com",
          "https://@merchant.example.com/",
          "https://merchant.example.com/#part",
          "https://a..b/",
          "https://localhost../",
        ],
      ].flat(),
    )("of a wrong form or location gets one violation (%s)", async (url) => {
      expect((await refuse(subscriptionTo(url))).map(({ pointer }) => pointer)).toEqual(["/url"]);
    });

    /** @clause 4.1 @decision D24 */
    test.each(
      [
        [
          "https://merchant.example.com/webhooks?a=b",
          "https://merchant.example.com:8443",
          "https://8.8.8.8/",
        ],
        ["http://merchant.example.com/", "http://localhost:9/", "http://127.1:9/", "http://2130706433:9/"],
        ["http://0x7f.1:9/", "http://[::1]:9/", "http://[::ffff:127.0.0.1]:9/"],
      ].flat(),
    )("that the sandbox delivers to is accepted as it stands (%s)", async (url) => {
      const { status, body } = await subscribe(subscriptionTo(url));

      expect(status).toBe(200);
      expect(await stored(body.subscriptionKey)).toMatchObject({ url });
    });

    /** @decision D15 */
    test("of 2048 characters is accepted", async () => {
      const { status } = await subscribe(subscriptionTo(`${TARGET}?${"x".repeat(2048 - TARGET.length - 1)}`));

      expect(status).toBe(200);
    });
  });

  /** @decision D18 */
  test("needs the scope webhooks, and no other", async () => {
    const statuses = [];
    for (const scopes of [[], ["refunds"], ["webhooks"]]) {
      const caller = await createMerchant(server, scopes);
      const { status } = await post(server.url, "/v1/webhook/subscribe", subscriptionTo(TARGET), {
        token: caller.token,
      });
      statuses.push(status);
    }

    expect(statuses).toEqual([403, 403, 200]);
  });

  /** @clause 9.1 9.2 @decision D08 */
  test.each([
    ["none", null],
    ["one that nobody has", `token-${randomUUID()}`],
    ["an empty one", ""],
  ])("gets 401 with WWW-Authenticate when the access token is %s", async (_name, wrong) => {
    const { status, headers } = await post(server.url, "/v1/webhook/subscribe", subscriptionTo(TARGET), {
      token: wrong,
    });

    expect([status, headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  });

  /** @clause 9.1 @decision D18 */
  test("takes the scheme of the access token in any case", async () => {
    const { token: valid } = await createMerchant(server);
    const headers = { Authorization: `bEARER ${valid}` };

    const { status } = await post(server.url, "/v1/webhook/subscribe", subscriptionTo(TARGET), {
      token: null,
      headers,
    });

    expect(status).toBe(200);
  });
});
