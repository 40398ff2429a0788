import { describe, expect, test } from "vitest";
import { createMerchant, type Duplicate, dollars, type Refund, refundOf } from "../../helpers/factories.ts";
import { type PostOptions, post, useTestServer } from "../../helpers/server.ts";

describe("a requestKey", () => {
  const server = useTestServer();

  const issue = (body: unknown, options?: PostOptions) =>
    post<Refund & Duplicate>(server.url, "/v1/refunds", body, options);

  /** @decision D10 */
  test("stays free after every response that made no record", async () => {
    const reader = await createMerchant(server, []);
    const request = refundOf("pay_recent");
    const refused = await Promise.all([
      issue({ ...request, paymentId: "pay_unknown" }),
      issue({ ...request, amount: dollars(0) }),
      issue(request, { token: "nobody" }),
      issue(request, { token: reader.token }),
      issue(request, { headers: { Accept: "text/xml" } }),
      issue(request, { headers: { "Content-Type": "text/plain" } }),
      issue({ ...request, clientReferenceId: "x".repeat(70_000) }),
    ]);

    const { status } = await issue(request);

    expect(refused.map((response) => response.status)).toEqual([404, 400, 401, 403, 406, 415, 413]);
    expect(status).toBe(201);
  });
});
