import { describe, expect, test } from "vitest";
import { BASE_REFUND } from "../../conformance/expected/refunds.ts";
import { type InvalidRequest, subscriptionTo } from "../../helpers/factories.ts";
import { exchange, head } from "../../helpers/network/raw-http.ts";
import { expectNothingStored, post, useTestServer } from "../../helpers/server.ts";

const TOO_MANY = {
  pointer: "",
  message: "has too many fields and list items; at most 128 in all are allowed",
};

/** @decision D07 D31 */
describe("a call that is wrong in thousands of fields", () => {
  const server = useTestServer();
  expectNothingStored(server);

  const membersOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`~/${index}`, 0]));
  const subscription = (details: unknown[]) => ({
    ...subscriptionTo("http://localhost:9/"),
    subscriptionDetails: { type: "EVENT", details },
  });

  test.each([
    ["unknown members", "/v1/refunds", { ...BASE_REFUND, ...membersOf(5_000) }],
    ["unknown members of a member", "/v1/refunds", { ...BASE_REFUND, amount: membersOf(5_000) }],
    ["numbers as details", "/v1/webhook/subscribe", subscription(Array(28_000).fill(1))],
    ["half surrogates", "/v1/refunds", Array(7_000).fill("\ud800")],
    ["items and no member", "/v1/refunds", Array(20_000).fill([])],
  ])("is not validated, and gets one violation (%s)", async (_case, path, request) => {
    const { status, body } = await post<InvalidRequest>(server.url, path, JSON.stringify(request));

    expect([status, body.detail]).toEqual([400, "The request has one error; see violations."]);
    expect(body.violations).toEqual([TOO_MANY]);
  });

  test("has 20 of its errors listed, and their total number", async () => {
    const { body } = await post<InvalidRequest>(server.url, "/v1/refunds", {
      ...BASE_REFUND,
      ...membersOf(100),
    });

    expect(body.violations).toHaveLength(20);
    expect(body.detail).toBe("The request has 100 errors; see violations.");
  });

  test("of which the names are long gets one violation that does not repeat them", async () => {
    const request = { ...BASE_REFUND, amount: { ["~/".repeat(30_000)]: 1, [`${"/"}`.repeat(65)]: 2 } };

    const { body } = await post<InvalidRequest>(server.url, "/v1/refunds", JSON.stringify(request));

    expect(body.violations).toEqual([
      { pointer: "/amount", message: "holds a field with a name of more than 64 characters; remove it" },
    ]);
  });

  test.each([
    ["whose first 512 characters admit JSON is served", `application/json,${"a/b,".repeat(3_000)}`, 400],
    ["whose first 512 characters rule it out gets 406", `${"a/b,".repeat(3_000)}application/json`, 406],
  ])("in an Accept %s", async (_case, accept, status) => {
    const response = await exchange(
      server.url,
      head("/v1/refunds", { "Content-Length": 2, Accept: accept }),
      "{}",
    );

    expect(response.status).toBe(status);
  });
});
