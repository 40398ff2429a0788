import { beforeEach, describe, expect, test } from "vitest";
import { createMerchant, dollars, refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant, problemOf, violationAt } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();

describe("the records of a merchant", () => {
  let now = NOW;

  const server = useTestServer({ realNow: () => now });
  beforeEach(async () => {
    now = NOW;
  });
  const acme = forEachTest(() => createSandboxMerchant(server));

  const list = async (query: Readonly<Record<string, string | number>>) =>
    (await acme.sandbox("listPayments", { query })).body;

  /** @clause 1.3 2.1 2.2 2.5 2.7 2.8 7.3 @decision D25 */
  test("show a refund with all that is stored of it", async () => {
    const payment = await acme.create({ settledAt: AT });
    const request = refundOf(payment.paymentId, {
      amount: dollars(25.5),
      clientReferenceId: "Bestellung ✓ 😀",
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
      due: { at: "2026-11-19T05:00:00.000Z", holidays: [] },
      history: [{ paymentStatus: "PENDING", at: AT }],
    });
    expect(await acme.get(payment.paymentId)).toEqual({ ...payment, refundableAmount: dollars(74.5) });
  });

  test("are listed newest first, page by page, also those of one millisecond, and while others are added", async () => {
    const payment = await acme.create();
    const newestFirst = [payment.paymentId];
    for (let left = 4; left > 0; left -= 1) {
      if (left % 2 === 1) now = new Date(now.getTime() + 1);
      newestFirst.unshift((await acme.issue(refundOf(payment.paymentId))).body.paymentId);
    }

    const first = await list({ limit: 2 });
    await acme.issue(refundOf(payment.paymentId));
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

  test("are listed by status, and by a part of an identifier, a reference or a key", async () => {
    const payment = await acme.create({ clientReferenceId: "Order-1042", requestKey: "50%_off" });
    const { body: refund } = await acme.issue(
      refundOf(payment.paymentId, { clientReferenceId: "return-7", requestKey: "key-7" }),
    );
    const { body: failed } = await acme.issue(refundOf(payment.paymentId, { amount: dollars(100.01) }));
    const found = async (query: Readonly<Record<string, string>>) =>
      (await list(query)).items.map(({ paymentId }) => paymentId).toSorted();
    const all = [payment, refund, failed].map(({ paymentId }) => paymentId).toSorted();

    expect(await found({ status: "TERMINAL_FAILED" })).toEqual([failed.paymentId]);
    expect(await found({ status: "SETTLED" })).toEqual([payment.paymentId]);
    expect(await found({ kind: "DEBIT", status: "AUTHORIZED" })).toEqual([]);
    expect(await found({ text: "ORDER-10" })).toEqual([payment.paymentId]);
    expect(await found({ text: "%_O" })).toEqual([payment.paymentId]);
    expect(await found({ text: "rn-7" })).toEqual([refund.paymentId]);
    expect(await found({ text: "KEY-7", status: "AUTHORIZED" })).toEqual([refund.paymentId]);
    expect(await found({ text: payment.paymentId })).toEqual(all);
    expect(await found({ text: "%" })).toEqual([payment.paymentId]);
    expect(await found({ text: "nothing" })).toEqual([]);
  });

  test("are listed by the payment that refunds give back", async () => {
    const [first, second] = [await acme.create(), await acme.create()];
    const refunds = [
      await acme.issue(refundOf(first.paymentId)),
      await acme.issue(refundOf(first.paymentId)),
    ];
    await acme.issue(refundOf(second.paymentId));

    const { items } = await list({ originalPaymentId: first.paymentId, limit: 2 });

    const ids = items.map(({ paymentId }) => paymentId);
    expect(ids.toSorted()).toEqual(refunds.map(({ body }) => body.paymentId).toSorted());
  });

  test("say of a refund that waits until when, and over which holiday", async () => {
    now = new Date("2026-11-24T15:00:00.000Z");
    const payment = await acme.create({ settledAt: now.toISOString() });
    const waiting = await acme.create({ status: "PROCESSING" });
    const [due, undated] = [
      await acme.issue(refundOf(payment.paymentId)),
      await acme.issue(refundOf(waiting.paymentId)),
    ];

    expect(await acme.get(due.body.paymentId)).toMatchObject({
      due: { at: "2026-11-30T05:00:00.000Z", holidays: ["Thanksgiving Day"] },
    });
    expect(await acme.get(undated.body.paymentId)).toMatchObject({ due: null });
  });

  test("are listed by twenty where no limit is given", async () => {
    for (let left = 21; left > 0; left -= 1) await acme.create();

    const page = await list({});

    expect(page.items).toHaveLength(20);
    expect(page.nextCursor).not.toBeNull();
  });

  test("are in no other merchant's list", async () => {
    const { paymentId } = await acme.create();
    await acme.issue(refundOf(paymentId));
    const { token } = await createMerchant(server);

    const { body } = await acme.sandbox("listPayments", { token });

    expect(body).toEqual({ items: [], nextCursor: null });
  });

  test.each([
    ...["x", "MTIz", Buffer.from("1 \0").toString("base64url"), "' or 1=1"].map((cursor) => {
      return [{ cursor }, "/query/cursor"] as const;
    }),
    [{ page: 2 }, "/query/page"] as const,
  ])("are not listed by %j, and the response names %s", async (query: object, pointer) => {
    const response = await acme.sandbox("listPayments", { query: { ...query } });

    expect(problemOf(response)).toEqual(violationAt(pointer, expect.any(String)));
  });
});
