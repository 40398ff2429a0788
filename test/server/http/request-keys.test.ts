import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { coverOriginal, settleOriginal } from "../../../server/storage/payments/payments.ts";
import { engines } from "../../helpers/engine.ts";
import {
  createMerchant,
  createPayment,
  createToken,
  type Duplicate,
  dollars,
  type Refund,
  refundOf,
  stored,
} from "../../helpers/factories.ts";
import { type PostOptions, post, useTestServer } from "../../helpers/server.ts";

describe.each(engines)("a requestKey on %s", (engine) => {
  const server = useTestServer({ engine });

  const issue = (body: unknown, options?: PostOptions) =>
    post<Refund>(server.url, "/v1/refunds", body, options);
  const repeat = (body: unknown, options?: PostOptions) =>
    post<Duplicate>(server.url, "/v1/refunds", body, options);

  /** @clause 2.8 7.5 11.3 12.5 @decision D09 */
  test("works once: an identical call gets 409 with the refund that holds it", async () => {
    const request = refundOf("pay_recent", { amount: dollars(0.5), clientReferenceId: "order-1" });
    const first = await issue(request);

    const { status, headers, body } = await repeat(request);

    const detail = "A payment record holds this requestKey already, so no refund was made. See existing.";
    expect(status).toBe(409);
    expect(headers.get("content-type")).toBe("application/json");
    expect(body).toEqual({
      type: "urn:problem:duplicate-request-key",
      title: "Duplicate requestKey",
      status: 409,
      detail,
      instance: expect.stringMatching(/^urn:uuid:/),
      errorDetails: { errorCode: "DUPLICATE_REQUEST_KEY", errorMessage: detail },
      existing: { ...first.body, originalPaymentId: "pay_recent", amount: dollars(0.5) },
    });
  });

  /** @clause 7.5 11.3 @decision D09 */
  test("counts whatever else the second call says", async () => {
    const request = refundOf("pay_recent");
    await issue(request);

    const others = [
      { ...request, amount: dollars(2) },
      { ...request, paymentId: "pay_failed" },
      { ...request, paymentId: "pay_unknown" },
    ];

    expect(await Promise.all(others.map(async (other) => (await repeat(other)).status))).toEqual([
      409, 409, 409,
    ]);
  });

  /** @decision D09 */
  test("shows the refund as it is now, not as it was in the first response", async () => {
    const paymentId = await createPayment(server, { status: "PROCESSING" });
    const request = refundOf(paymentId);
    const { body: pending } = await issue(request);
    const now = new Date();
    await settleOriginal(server.database.db, { merchant: "acme", paymentId, settledAt: now, now });
    await coverOriginal(server.database.db, { merchant: "acme", paymentId, now });

    const { body } = await repeat(request);

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

  /** @clause 7.5 12.5 @decision D09 D10 */
  test("of an original payment is used up too, and the response names only that payment", async () => {
    const { status, body } = await repeat(refundOf("pay_settled", { requestKey: "debit-1042" }));

    expect([status, body.existing]).toEqual([409, { paymentId: "pay_settled" }]);
  });

  /** @clause 12.5 @decision D10 */
  test("of a refund that failed is used up", async () => {
    const request = refundOf("pay_failed");
    const { body: failed } = await issue(request);

    const { status, body } = await repeat({ ...request, paymentId: "pay_recent" });

    expect([status, body.existing]).toEqual([
      409,
      { ...failed, originalPaymentId: "pay_failed", amount: dollars(1) },
    ]);
  });

  /** @decision D10 */
  test("is the merchant's: another one may use the same", async () => {
    const request = refundOf("pay_recent");
    await issue(request);

    const other = await issue({ ...request, paymentId: "pay_globex" }, { token: "sandbox_globex" });

    expect([other.status, other.body.paymentStatus]).toEqual([201, "AUTHORIZED"]);
  });

  /** @decision D10 */
  test("is the merchant's and not the token's: with a fresh token it is still a duplicate", async () => {
    const request = refundOf("pay_recent");
    const { body: first } = await issue(request);

    const { status, body } = await repeat(request, { token: await createToken(server, "acme") });

    expect([status, body.existing.paymentId]).toEqual([409, first.paymentId]);
  });

  /** @decision D10 */
  test("is compared byte for byte", async () => {
    const base = `key-${randomUUID()}-é`;
    const keys = [base, base.toUpperCase(), `${base} `, ` ${base}`, base.normalize("NFD"), `${base}\t`];

    const statuses = [];
    for (const requestKey of [...keys, ...keys]) {
      statuses.push((await issue(refundOf("pay_recent", { requestKey, amount: dollars(0.01) }))).status);
    }

    expect(statuses).toEqual([...keys.map(() => 201), ...keys.map(() => 409)]);
  });

  /** @decision D15 */
  test("may have 255 code points", async () => {
    const requestKey = `${randomUUID()}${"😀".repeat(219)}`;

    const { status, body } = await issue(refundOf("pay_recent", { requestKey }));

    expect(status).toBe(201);
    expect(await stored(server, body.paymentId)).toMatchObject({ requestKey });
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
