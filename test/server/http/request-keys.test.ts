import { describe, expect, test } from "vitest";
import { coverOriginal, settleOriginal } from "../../../server/storage/payments/payments.ts";
import { engines } from "../../helpers/engine.ts";
import {
  createMerchant,
  createPayment,
  type Duplicate,
  dollars,
  type Refund,
  refundOf,
} from "../../helpers/factories.ts";
import { type PostOptions, post, useTestServer } from "../../helpers/server.ts";

describe.each(engines)("a requestKey on %s", (engine) => {
  const server = useTestServer({ engine });

  const issue = (body: unknown, options?: PostOptions) =>
    post<Refund & Duplicate>(server.url, "/v1/refunds", body, options);

  /** @clause 2.8 7.5 11.3 12.5 @decision D09 */
  test("shows the refund as it is now, not as it was in the first response", async () => {
    const paymentId = await createPayment(server, { status: "PROCESSING" });
    const request = refundOf(paymentId);
    const { body: pending } = await issue(request);
    const now = new Date();
    await settleOriginal(server.database.db, { merchant: "acme", paymentId, settledAt: now, now });
    await coverOriginal(server.database.db, { merchant: "acme", paymentId, now });

    const { body } = await issue(request);

    expect(pending.paymentStatus).toBe("PENDING");
    expect(body.existing).toEqual({
      paymentId: pending.paymentId,
      paymentStatus: "TERMINAL_FAILED",
      clientReferenceId: null,
      errorDetails: {
        errorCode: "PAYMENT_COVERED",
        errorMessage: "The original payment fell into the service's cover, so it can't be refunded.",
      },
      originalPaymentId: paymentId,
      amount: dollars(1),
    });
  });

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
