import { beforeEach, describe, expect, test } from "vitest";
import { refundDueAt } from "../../../server/domain/business-days.ts";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { post, useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-24T15:00:00.000Z");
const URL = "https://merchant.example.com/";

let now = NOW;
const server = useTestServer({ realNow: () => now });
beforeEach(() => {
  now = NOW;
});
const acme = forEachTest(() => createSandboxMerchant(server));

const subscribe = async (fields: object = {}) => {
  const body = subscriptionTo(URL, { ...fields });
  const subscribed = await post<{ subscriptionKey: string }>(server.url, "/v1/webhook/subscribe", body, acme);
  return subscribed.body.subscriptionKey;
};

describe("GET /sandbox/requests", () => {
  const list = async (query = {}) => (await acme.sandbox("listRequests", { query })).body;

  test("lists requests with their responses, newest first, and finds them by what they are about", async () => {
    const { paymentId } = await acme.create();
    const issued = await acme.issue(refundOf(paymentId, { requestKey: "key-1" }));
    await acme.issue(refundOf(paymentId, { requestKey: "key-1" }));
    const long = "🔑".repeat(200);
    const refused = await acme.issue<{ instance: string }>(refundOf("pay_unknown", { requestKey: long }));

    const { items } = await list();

    expect(items.map(({ status, requestKey }) => [status, requestKey])).toEqual([
      [404, long],
      [409, "key-1"],
      [201, "key-1"],
    ]);
    expect(items[2]).toMatchObject({ operation: "issueRefund", paymentId: issued.body.paymentId });
    expect(JSON.parse(items[2]?.responseBody ?? "")).toEqual(issued.body);
    const found = async (query: object) => (await list(query)).items.map(({ status }) => status);
    expect(await found({ search: "key-1" })).toEqual([409, 201]);
    expect(await found({ search: paymentId })).toEqual([409, 201]);
    expect(await found({ search: issued.body.paymentId })).toEqual([409, 201]);
    expect(await found({ search: refused.body.instance })).toEqual([404]);
    expect(await found({ search: "key" })).toEqual([]);
    expect(await found({ status: 409 })).toEqual([409]);
    expect(await found({ status: 409, search: refused.body.instance })).toEqual([]);
  });

  test("lists calls that no operation takes, under the merchant whose token they have", async () => {
    const headers = { Authorization: `Bearer ${acme.token}` };
    for (const [method, path] of [
      ["POST", "/v1/refund"],
      ["GET", "/v1/refunds"],
      ["POST", "/refunds"],
    ] as const)
      await (await fetch(`${server.url}${path}`, { method, headers })).text();
    await fetch(`${server.url}/v1/refund`, { method: "POST", headers: { Authorization: "Bearer unknown" } });

    const seen = async () =>
      (await list()).items.map(({ operation, path, status }) => [operation, path, status]);
    // A request is recorded after its response.
    await expect.poll(seen).toEqual([
      [null, "/refunds", 404],
      [null, "/v1/refunds", 405],
      [null, "/v1/refund", 404],
    ]);
  });

  test("keeps no secret and no access token, also of requests that were refused", async () => {
    const secretKey = "a-very-secret-secret-key-of-mine";
    await subscribe({ secretKey });
    await subscribe({ secretKey, url: "not a url" });
    await post(server.url, "/v1/webhook/subscribe", `{"secretKey": "${secretKey}`, acme);

    const text = JSON.stringify(await list());

    expect(text).toContain("[hidden]");
    expect(text).not.toContain("a-very-secret");
    expect(text).not.toContain(acme.token);
  });

  const AS_SENT = "as sent";
  test.each([
    ["a number as it was written", '{ "amount": {"value": 10.000, "b": -1.50e3 } }', AS_SENT],
    ["a key that occurs twice", '{"a":[], "a":{}}', AS_SENT],
    [
      "no value of a secret",
      '{"token": 1.5, "Secret" : true}',
      '{"token": "[hidden]", "Secret" : "[hidden]"}',
    ],
    ["no secret that occurs twice", '{"token":"S1","token":2}', '{"token":"[hidden]","token":"[hidden]"}'],
    ["no secret whose name is escaped", '{"secret\\u004bey":"S1"}', '{"secret\\u004bey":"[hidden]"}'],
    [
      "no secret with a quote",
      '{"a":["\\"b\\":"],"token":"S1\\",S2"}',
      '{"a":["\\"b\\":"],"token":"[hidden]"}',
    ],
    ["no secret that a later key replaces", '{"a":{"token":"S1"},"a":1}', '{"a":{"token":"[hidden]"},"a":1}'],
    ["nothing of a secret that is an object", '{"password":{"a":"S1"}}', null],
    ["nothing of a text alone", '"S1"', null],
    ["nothing of a body that is not UTF-8", Buffer.from('{"a":"\xff"}', "latin1"), null],
  ])("keeps %s", async (_name, body, kept) => {
    const headers = { Authorization: `Bearer ${acme.token}`, "Content-Type": "application/json" };
    await fetch(`${server.url}/v1/refunds`, { method: "POST", headers, body });

    const { items } = await list();

    expect(items.map(({ requestBody }) => requestBody)).toEqual([kept === AS_SENT ? body : kept]);
  });
});

test("the clock says when the next refunds fall due, and how many do", async () => {
  const { paymentId } = await acme.create({ settledAt: NOW.toISOString() });
  await Promise.all(["a", "b"].map(() => acme.issue(refundOf(paymentId))));

  const { body } = await acme.sandbox("getClock");

  const at = refundDueAt(NOW).toISOString();
  expect(body).toMatchObject({ now: NOW.toISOString(), next: { at, refunds: 2, deliveries: 0 } });
});
