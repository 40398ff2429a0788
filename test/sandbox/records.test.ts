import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../helpers/server.ts";
import { dollars, givenMerchant, refundOf } from "../server/given.ts";
import { faultAt, problemOf } from "./call.ts";
import { givenSandboxMerchant, type Merchant } from "./given.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();

describe("the records of a merchant", () => {
  let server: TestServer;
  let now = NOW;
  let acme: Merchant;

  beforeAll(async () => {
    server = await startTestServer({ realNow: () => now });
    return () => server.close();
  });
  beforeEach(async () => {
    now = NOW;
    acme = await givenSandboxMerchant(server);
  });

  const list = async (query: Readonly<Record<string, string | number>>) =>
    (await acme.sandbox("listPayments", { query })).body;

  /** @decision D25 */
  test("show a refund with all that is stored of it", async () => {
    const payment = await acme.create({ settledAt: AT });
    const request = refundOf(payment.paymentId, {
      amount: dollars(25.5),
      clientReferenceId: "order-1",
      softDescriptor: "ACME refund",
    });
    const refund = await acme.issue(request);

    expect(await acme.get(refund.body.paymentId)).toEqual({
      kind: "REFUND",
      ...refund.body,
      amount: request.amount,
      status: "PENDING",
      originalPaymentId: payment.paymentId,
      softDescriptor: "ACME refund",
      requestKey: request.requestKey,
      history: [{ paymentStatus: "PENDING", at: AT }],
    });
    expect(await acme.get(payment.paymentId)).toEqual({ ...payment, refundableAmount: dollars(74.5) });
  });

  test("show why a refund failed, and that it took nothing", async () => {
    const payment = await acme.create();
    const refund = await acme.issue(refundOf(payment.paymentId, { amount: dollars(100.01) }));

    expect(await acme.get(refund.body.paymentId)).toMatchObject({
      status: "TERMINAL_FAILED",
      paymentStatus: "TERMINAL_FAILED",
      errorDetails: { errorCode: "AMOUNT_EXCEEDS_REFUNDABLE", errorMessage: expect.any(String) },
    });
    expect(await acme.get(payment.paymentId)).toEqual(payment);
  });

  test("are listed newest first, page by page", async () => {
    const payment = await acme.create();
    const newestFirst = [payment.paymentId];
    for (let left = 4; left > 0; left -= 1) {
      now = new Date(now.getTime() + 1);
      newestFirst.unshift((await acme.issue(refundOf(payment.paymentId))).body.paymentId);
    }

    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.nextCursor ?? "" });
    const last = await list({ limit: 2, cursor: second.nextCursor ?? "" });

    const pages = [first, second, last].map(({ items }) => items.map(({ paymentId }) => paymentId));
    expect(pages).toEqual([newestFirst.slice(0, 2), newestFirst.slice(2, 4), newestFirst.slice(4)]);
    expect(last.nextCursor).toBeNull();
  });

  test("are listed by kind when one is named", async () => {
    const { paymentId } = await acme.create();
    const refund = await acme.issue(refundOf(paymentId));

    const debits = await list({ kind: "DEBIT" });
    const refunds = await list({ kind: "REFUND" });

    expect(debits).toEqual({ items: [await acme.get(paymentId)], nextCursor: null });
    expect(refunds).toEqual({ items: [await acme.get(refund.body.paymentId)], nextCursor: null });
  });

  test("are listed by twenty where no limit is given", async () => {
    for (let left = 21; left > 0; left -= 1) await acme.create();

    const page = await list({});

    expect(page.items).toHaveLength(20);
    expect(page.nextCursor).not.toBeNull();
  });

  test("are in nobody else's list", async () => {
    const { paymentId } = await acme.create();
    await acme.issue(refundOf(paymentId));
    const { token } = await givenMerchant(server);

    const { body } = await acme.sandbox("listPayments", { token });

    expect(body).toEqual({ items: [], nextCursor: null });
  });

  test.each([
    [{ limit: 0 }, "/query/limit"],
    [{ limit: 101 }, "/query/limit"],
    [{ limit: "ten" }, "/query/limit"],
    [{ kind: "PAYMENT" }, "/query/kind"],
    [{ cursor: "bm90IGEgY3Vyc29y" }, "/query/cursor"],
    [{ page: 2 }, "/query/page"],
  ])("are not listed by %j, and the answer names %s", async (query: object, pointer) => {
    const answer = await acme.sandbox("listPayments", { query: { ...query } });

    expect(problemOf(answer)).toEqual(faultAt(pointer, expect.any(String)));
  });
});
