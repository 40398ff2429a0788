import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createRing } from "../../../server/sandbox/handlers/ring.ts";
import { createMerchant, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { createSandboxMerchant, type Merchant, problemOf, violationAt } from "../../helpers/sandbox.ts";
import { post, startTestServer, type TestServer } from "../../helpers/server.ts";

const NOW = new Date("2026-11-24T15:00:00.000Z");

let server: TestServer;
let acme: Merchant;
let now: Date;

beforeAll(async () => {
  now = NOW;
  server = await startTestServer({ realNow: () => now });
  return () => server.close();
});
beforeEach(async () => {
  now = NOW;
  acme = await createSandboxMerchant(server);
});

const subscribe = (fields: object = {}) => {
  const body = subscriptionTo("https://merchant.example.com/", { ...fields });
  return post<{ subscriptionKey: string }>(server.url, "/v1/webhook/subscribe", body, { token: acme.token });
};

/** @decision D25 */
describe("GET /sandbox/requests", () => {
  const list = async (query = {}) => (await acme.sandbox("listRequests", { query })).body;

  test("lists requests with their responses, newest first, and finds them by what they are about", async () => {
    const { paymentId } = await acme.create();
    const issued = await acme.issue(refundOf(paymentId, { requestKey: "key-1" }));
    await acme.issue(refundOf(paymentId, { requestKey: "key-1" }));
    const refused = await acme.issue<{ instance: string }>(
      refundOf("pay_unknown", { requestKey: "🔑".repeat(200) }),
    );

    const { items } = await list();

    expect(items.map(({ status, requestKey }) => [status, requestKey])).toEqual([
      [404, "🔑".repeat(200)],
      [409, "key-1"],
      [201, "key-1"],
    ]);
    expect(items[2]).toMatchObject({ operation: "issueRefund", paymentId: issued.body.paymentId });
    expect(JSON.parse(items[2]?.responseBody ?? "")).toEqual(issued.body);
    const found = async (search: string) => (await list({ search })).items.map(({ status }) => status);
    expect(await found("key-1")).toEqual([409, 201]);
    expect(await found(paymentId)).toEqual([409, 201]);
    expect(await found(issued.body.paymentId)).toEqual([409, 201]);
    expect(await found(refused.body.instance)).toEqual([404]);
    expect(await found("key")).toEqual([]);
    const keys = async (query: object) => (await list(query)).items.map(({ requestKey }) => requestKey);
    expect(await keys({ status: 409 })).toEqual(["key-1"]);
    expect(await keys({ status: 409, search: refused.body.instance })).toEqual([]);
  });

  test("goes on with the next page where the one before ended", async () => {
    for (const name of ["a", "b", "c"]) await acme.issue(refundOf("pay_unknown", { requestKey: name }));

    const first = await list({ limit: 2 });
    await acme.issue(refundOf("pay_unknown", { requestKey: "d" }));
    const second = await list({ limit: 2, cursor: first.nextCursor ?? "" });

    expect([...first.items, ...second.items].map(({ requestKey }) => requestKey)).toEqual(["c", "b", "a"]);
    expect(second.nextCursor).toBeNull();
    const wrong = await acme.sandbox("listRequests", { query: { cursor: "bm90IGEgY3Vyc29y" } });
    expect(problemOf(wrong)).toEqual(violationAt("/query/cursor", expect.any(String)));
  });

  test("keeps no secret and no access token, also of requests that were refused", async () => {
    await subscribe({ secretKey: "a-very-secret-secret-key-of-mine" });
    await subscribe({ secretKey: "a-very-secret-secret-key-of-mine", url: "not a url" });
    await post(server.url, "/v1/webhook/subscribe", `{"secretKey": "a-very-secret-secret-key-of-mine`, {
      token: acme.token,
    });

    const text = JSON.stringify(await list());

    expect(text).toContain("[hidden]");
    expect(text).not.toContain("a-very-secret");
    expect(text).not.toContain(acme.token);
  });

  test("shows nothing to another merchant, and nothing after a reset", async () => {
    await acme.issue(refundOf("pay_unknown", { requestKey: "mine" }));
    const { token } = await createMerchant(server);

    expect((await acme.sandbox("listRequests", { token })).body.items).toEqual([]);
    await acme.sandbox("resetSandbox");
    expect((await list()).items).toEqual([]);
  });
});

test("a ring keeps the newest items within its count and its bytes", () => {
  const ring = createRing<string>({ maxItems: 3, maxBytes: 10, bytesOf: (text) => text.length });

  for (const text of ["a", "b", "c", "d"]) ring.add(text);
  expect(ring.list()).toEqual(["d", "c", "b"]);
  ring.add("123456789");
  expect(ring.list()).toEqual(["123456789", "d"]);
  ring.add("12345678901");
  expect(ring.list()).toEqual([]);
});

/** @decision D16 D30 */
describe("GET /sandbox/clock/due", () => {
  test("names the next refunds that fall due, and the holiday that they wait over", async () => {
    const { paymentId } = await acme.create({ settledAt: NOW.toISOString() });
    const refunds = await Promise.all(
      ["a", "b"].map((requestKey) => acme.issue(refundOf(paymentId, { requestKey }))),
    );

    const { body } = await acme.sandbox("getDue");

    const at = "2026-11-30T05:00:00.000Z";
    expect(body).toMatchObject({
      now: NOW.toISOString(),
      today: { date: "2026-11-24", businessDay: true, closedFor: null },
      next: { at, refunds: 2, deliveries: 0 },
    });
    const ids = refunds.map(({ body }) => body.paymentId).sort();
    expect(body.items).toEqual(ids.map((id) => ({ kind: "REFUND", id, at, holidays: ["Thanksgiving Day"] })));
  });

  test.each([
    ["2026-11-21T10:00:00.000Z", "2026-11-21", "Saturday"],
    ["2026-11-26T04:59:59.000Z", "2026-11-25", null],
    ["2026-11-26T05:00:00.000Z", "2026-11-26", "Thanksgiving Day"],
  ])("knows at %s that the Eastern date is %s, closed for %s", async (instant, date, closedFor) => {
    now = new Date(instant);

    const { body } = await acme.sandbox("getDue");

    expect(body.today).toEqual({ date, businessDay: closedFor === null, closedFor });
    expect(body).toMatchObject({ next: null, items: [] });
  });
});

describe("GET /sandbox/subscriptions", () => {
  /** @decision D22 D26 */
  test("lists subscriptions, newest first, with the time at which one ended, and no secret but its form", async () => {
    const first = (await subscribe()).body.subscriptionKey;
    const second = (
      await subscribe({
        secretKey: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        subscriptionDetails: { type: "CATEGORY", details: ["PAYMENT", "ACCOUNT"] },
      })
    ).body.subscriptionKey;
    await acme.sandbox("endSubscription", { path: { subscriptionKey: first } });

    const { body } = await acme.sandbox("listSubscriptions", { query: { limit: 1 } });
    const rest = await acme.sandbox("listSubscriptions", { query: { cursor: body.nextCursor ?? "" } });

    const common = {
      url: "https://merchant.example.com/",
      createdAt: NOW.toISOString(),
      oldSecretUntil: null,
      secretWarning: null,
    };
    expect([...body.items, ...rest.body.items]).toEqual([
      {
        ...{ ...common, subscriptionKey: second, secretForm: "BASE64", endedAt: null },
        subscriptionDetails: { type: "CATEGORY", details: ["PAYMENT", "ACCOUNT"] },
      },
      {
        ...{ ...common, subscriptionKey: first, secretForm: null, endedAt: NOW.toISOString() },
        subscriptionDetails: { type: "ALL" },
      },
    ]);
    const { token } = await createMerchant(server);
    expect((await acme.sandbox("listSubscriptions", { token })).body.items).toEqual([]);
  });
});

/** @decision D26 */
test("GET /sandbox/subscriptions/{subscriptionKey} shows one, live or ended, to its merchant only", async () => {
  const secretKey = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS"; // its last character was lost
  const path = { subscriptionKey: (await subscribe({ secretKey })).body.subscriptionKey };
  const get = async (token = acme.token) => acme.sandbox("getSubscription", { path, token });
  const live = (await get()).body;
  await acme.sandbox("endSubscription", { path });

  expect(live).toMatchObject({
    ...path,
    url: "https://merchant.example.com/",
    secretForm: "TEXT",
    endedAt: null,
  });
  expect((await get()).body).toEqual({ ...live, secretForm: null, endedAt: NOW.toISOString() });
  const { token } = await createMerchant(server);
  expect(problemOf(await get(token))).toMatchObject({ status: 404, errorCode: "NOT_FOUND" });
});

describe("GET /sandbox/events", () => {
  /** @decision D19 D20a */
  test("lists events, newest first, also those that nobody received", async () => {
    await acme.sandbox("emitEvent", { body: { type: "account.linked", resourceId: "acc_1" } });
    await acme.sandbox("emitEvent", { body: { type: "customer.created", resourceId: "cus_1" } });

    const { body } = await acme.sandbox("listEvents", { query: { limit: 1 } });
    const rest = await acme.sandbox("listEvents", { query: { cursor: body.nextCursor ?? "" } });
    const about = await acme.sandbox("listEvents", { query: { resourceId: "acc_1" } });

    expect([...body.items, ...rest.body.items].map(({ type }) => type)).toEqual([
      "customer.created",
      "account.linked",
    ]);
    expect(about.body.items).toEqual(rest.body.items);
    expect(JSON.parse(about.body.items[0]?.payload ?? "")).toEqual({
      type: "account.linked",
      timestamp: NOW.toISOString(),
      sequence: 1,
      data: { accountId: "acc_1" },
    });
    const { token } = await createMerchant(server);
    expect((await acme.sandbox("listEvents", { token })).body.items).toEqual([]);
  });
});
