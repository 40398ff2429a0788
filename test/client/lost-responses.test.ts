import { describe, expect, test } from "vitest";
import { createClient } from "../../client/src/index.ts";
import { dollars } from "../helpers/factories.ts";
import { merchantAt, sandboxOf } from "../helpers/sandbox.ts";
import { useTestServer } from "../helpers/server.ts";

const ACME = { merchant: "acme", token: "sandbox_acme" };
const server = useTestServer();

/** A client at the sandbox, whose first attempt meets a fault. */
function createLossyClient(kind: "CLOSED_BEFORE" | "CLOSED_AFTER" | "TRUNCATED") {
  let attempts = 0;
  const lossyFetch = async (request: Request) => {
    attempts += 1;
    if (attempts === 1) await sandboxOf(server)("armFault", { body: { kind, operation: "issueRefund" } });
    return fetch(request);
  };
  const clock = { now: () => performance.now(), sleep: async () => {} };
  return createClient({ baseUrl: server.url, accessToken: ACME.token, clock, fetch: lossyFetch });
}

describe("refunds.issue, when the response of the first attempt is lost", () => {
  test.each(["CLOSED_BEFORE", "CLOSED_AFTER", "TRUNCATED"] as const)(
    "makes the refund once (%s)",
    async (kind) => {
      const merchant = merchantAt(server, ACME);
      const { paymentId } = await merchant.create({ amount: dollars(5) });

      const request = { paymentId, amount: "1.99", requestKey: `lost-${kind}` };
      const refund = await createLossyClient(kind).refunds.issue(request);

      expect(await merchant.get(refund.paymentId)).toMatchObject({
        requestKey: `lost-${kind}`,
        amount: dollars(1.99),
      });
      expect(await merchant.get(paymentId)).toMatchObject({ refundableAmount: dollars(3.01) });
    },
  );

  test("resolves with a refund that failed", async () => {
    const request = { paymentId: "pay_failed", amount: "1.00", requestKey: "lost-and-failed" };
    const refund = await createLossyClient("CLOSED_AFTER").refunds.issue(request);

    expect(refund).toEqual({
      paymentId: expect.stringMatching(/^rfd_/),
      paymentStatus: "TERMINAL_FAILED",
      clientReferenceId: null,
      errorDetails: { errorCode: "CUSTOMER_NOT_DEBITED", errorMessage: expect.any(String) },
    });
  });

  test("does not take an original payment with the same requestKey for its own", async () => {
    await merchantAt(server, ACME).create({ amount: dollars(1), requestKey: "a payment's" });

    const request = { paymentId: "pay_settled", amount: "1.00", requestKey: "a payment's" };
    await expect(createLossyClient("CLOSED_BEFORE").refunds.issue(request)).rejects.toMatchObject({
      name: "ProblemError",
      status: 409,
      attempts: 2,
    });
  });
});
