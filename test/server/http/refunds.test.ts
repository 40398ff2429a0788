import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { createPayment, dollars, type Refund, refundOf, stored } from "../../helpers/factories.ts";
import { post, useTestServer } from "../../helpers/server.ts";

/** A Monday, 10:00 in New York. */
const NOW = new Date("2026-11-16T15:00:00.000Z");

describe.each(engines)("POST /v1/refunds on %s", (engine) => {
  const now = NOW;

  const server = useTestServer({ engine, realNow: () => now });

  const issue = (body: unknown) => post<Refund>(server.url, "/v1/refunds", body);

  /** @clause 1.3 2.1 2.2 2.5 2.7 2.8 7.3 */
  test("stores what was sent", async () => {
    const paymentId = await createPayment(server);
    const request = refundOf(paymentId, {
      amount: dollars(19.99),
      clientReferenceId: "Bestellung ✓ 😀",
      softDescriptor: "ACME Refund 42",
    });

    const { body } = await issue(request);

    expect(await stored(server, body.paymentId)).toMatchObject({
      kind: "REFUND",
      merchant: "acme",
      amountCents: 19_99,
      originalPaymentId: paymentId,
      clientReferenceId: "Bestellung ✓ 😀",
      softDescriptor: "ACME Refund 42",
      requestKey: request.requestKey,
    });
  });
});
