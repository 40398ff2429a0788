import { describe, expect, test } from "vitest";
import { BASE_REFUND } from "../../conformance/expected/refunds.ts";
import { type InvalidRequest, subscriptionTo } from "../../helpers/factories.ts";
import { expectNothingStored, post, useTestServer } from "../../helpers/server.ts";

/** @decision D07 D31 */
describe("a call that is wrong in many fields", () => {
  const server = useTestServer();
  expectNothingStored(server);

  const membersOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`~/${index}`, 0]));
  const details = Array(28_000).fill(1);

  test.each([
    ["members", "/v1/refunds", { ...BASE_REFUND, amount: membersOf(5_000) }],
    ["items", "/v1/webhook/subscribe", subscriptionTo("x", { subscriptionDetails: { details } })],
  ])(
    "is not validated where they are thousands, and gets one violation (%s)",
    async (_case, path, request) => {
      const { status, body } = await post<InvalidRequest>(server.url, path, request);

      expect([status, body.detail]).toEqual([400, "The request has one error; see violations."]);
      const message = "has too many fields and list items; at most 128 in all are allowed";
      expect(body.violations).toEqual([{ pointer: "", message }]);
    },
  );

  test("has 20 of its errors listed, and their total number", async () => {
    const request = { ...BASE_REFUND, ...membersOf(100) };
    const { body } = await post<InvalidRequest>(server.url, "/v1/refunds", request);

    expect(body.violations).toHaveLength(20);
    expect(body.detail).toBe("The request has 100 errors; see violations.");
  });
});
