import { beforeEach, describe, expect, test } from "vitest";
import { dollars, refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant, type Debit, eventsOf } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();
const HUNDRED = { amount: dollars(100) };

let now = NOW;
const server = useTestServer({ realNow: () => now, engine: "embedded" });
beforeEach(() => {
  now = NOW;
});
const acme = forEachTest(() => createSandboxMerchant(server));

describe("POST /sandbox/payments", () => {
  test("makes a payment that settled 30 days ago by default, and emits its event", async () => {
    const { status, body } = await acme.sandbox("createPayment", { body: HUNDRED });

    expect(status).toBe(201);
    expect(body).toEqual({
      kind: "DEBIT",
      paymentId: expect.stringMatching(/^pay_/),
      ...HUNDRED,
      status: "SETTLED",
      settledAt: "2026-10-17T15:00:00.000Z",
      requestKey: null,
      clientReferenceId: null,
      refundableAmount: dollars(100),
      history: [{ status: "SETTLED", at: AT }],
    });
    const { paymentId } = body as Debit;
    expect(await acme.get(paymentId)).toEqual(body);
    expect(await eventsOf(server, paymentId)).toEqual([
      { type: "payment.settled", sequence: 1, occurred_at: NOW },
    ]);
  });

  test.each([
    [{ status: "PROCESSING", requestKey: "debit-1", clientReferenceId: "order-1" }, null, []],
    [{ settledAt: "2026-11-13T10:00:00-05:00" }, "2026-11-13T15:00:00.000Z", ["payment.settled"]],
    [{ status: "FAILED" }, null, ["payment.failed"]],
    [{ status: "COVERED" }, "2026-10-17T15:00:00.000Z", ["payment.covered"]],
    [{ status: "COVERED", settledAt: AT }, AT, ["payment.covered"]],
  ])("makes a payment with %j", async (fields, settledAt, events) => {
    const payment = await acme.create(fields);

    expect(payment).toMatchObject({ ...fields, settledAt });
    expect(payment.history).toEqual([{ status: payment.status, at: AT }]);
    expect((await eventsOf(server, payment.paymentId)).map(({ type }) => type)).toEqual(events);
  });
});

describe("the records of a merchant", () => {
  const list = async (query: Readonly<Record<string, string | number>>) =>
    (await acme.sandbox("listPayments", { query })).body;
  const refund = async (paymentId: string, fields = {}) =>
    (await acme.issue(refundOf(paymentId, fields))).body.paymentId;

  test("are listed newest first, page by page, also those of one millisecond, and while others are added", async () => {
    const { paymentId } = await acme.create();
    const newestFirst = [paymentId];
    for (let left = 4; left > 0; left -= 1) {
      if (left % 2 === 1) now = new Date(now.getTime() + 1);
      newestFirst.unshift(await refund(paymentId));
    }

    const first = await list({ limit: 2 });
    await refund(paymentId);
    const second = await list({ limit: 2, cursor: first.nextCursor ?? "" });
    const last = await list({ limit: 2, cursor: second.nextCursor ?? "" });

    const pages = [first, second, last].map(({ items }) => items.map(({ paymentId }) => paymentId));
    expect(pages).toEqual([newestFirst.slice(0, 2), newestFirst.slice(2, 4), newestFirst.slice(4)]);
    expect(last.nextCursor).toBeNull();
  });

  test("are found by kind, status and original payment, and by a part of an identifier, a reference or a key", async () => {
    const { paymentId: payment } = await acme.create({
      clientReferenceId: "Order-1042",
      requestKey: "50%_off",
    });
    const done = await refund(payment, { clientReferenceId: "return-7", requestKey: "key-7" });
    const failed = await refund(payment, { amount: dollars(100.01) });
    const { paymentId: another } = await acme.create();
    const found = async (query: Readonly<Record<string, string>>) =>
      (await list(query)).items.map(({ paymentId }) => paymentId).toSorted();

    expect(await found({ kind: "DEBIT" })).toEqual([payment, another].toSorted());
    expect(await found({ kind: "REFUND" })).toEqual([done, failed].toSorted());
    expect(await found({ status: "TERMINAL_FAILED" })).toEqual([failed]);
    expect(await found({ kind: "DEBIT", status: "AUTHORIZED" })).toEqual([]);
    expect(await found({ originalPaymentId: payment })).toEqual([done, failed].toSorted());
    expect(await found({ text: "ORDER-10" })).toEqual([payment]);
    expect(await found({ text: "%_O" })).toEqual([payment]);
    expect(await found({ text: "rn-7" })).toEqual([done]);
    expect(await found({ text: "KEY-7", status: "AUTHORIZED" })).toEqual([done]);
    expect(await found({ text: payment })).toEqual([payment, done, failed].toSorted());
    expect(await found({ text: "%" })).toEqual([payment]);
  });
});
