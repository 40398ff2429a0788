import { beforeEach, describe, expect, test } from "vitest";
import { countRows, dollars, refundOf } from "../../helpers/factories.ts";
import {
  createSandboxMerchant,
  type Debit,
  eventsOf,
  problemOf,
  UNKNOWN_PAYMENT,
  violationAt,
} from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();
const HUNDRED = { amount: dollars(100) };

let now = NOW;
const server = useTestServer({ realNow: () => now });
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
  ])("makes what %j says", async (fields, settledAt, events) => {
    const payment = await acme.create(fields);

    expect(payment).toMatchObject({ ...fields, settledAt });
    expect(payment.history).toEqual([{ status: payment.status, at: AT }]);
    expect((await eventsOf(server, payment.paymentId)).map(({ type }) => type)).toEqual(events);
  });

  test.each([
    [{ settledAt: "2026-11-16T15:00:00.001Z" }, expect.stringContaining(AT)],
    [{ settledAt: "2026-06-30T23:59:60Z" }, expect.stringContaining("a time")],
    [{ settledAt: "2019-12-31T12:00:00Z" }, "must lie in the years 2020 to 2099"],
    [{ status: "PROCESSING", settledAt: AT }, expect.stringContaining("PROCESSING")],
    [{ status: "FAILED", settledAt: AT }, expect.stringContaining("FAILED")],
  ])("refuses %j", async (fields, message) => {
    const before = await countRows(server);

    const response = await acme.sandbox("createPayment", { body: { ...HUNDRED, ...fields } });

    expect(problemOf(response)).toEqual(violationAt("/settledAt", message));
    expect(await countRows(server)).toEqual(before);
  });
});

test.each([
  ["2026-11-16T15:00:00.001Z", `must not lie after the sandbox's time, which is ${AT}`],
  ["2019-12-31T23:59:59Z", "must lie in the years 2020 to 2099"],
])("a payment does not settle at %s", async (settledAt, message) => {
  const payment = await acme.create({ status: "PROCESSING" });
  const { paymentId } = payment;

  const response = await acme.sandbox("settlePayment", { path: { paymentId }, body: { settledAt } });

  expect(problemOf(response)).toEqual(violationAt("/settledAt", message));
  expect(await acme.get(paymentId)).toEqual(payment);
});

test.each(["settlePayment", "failPayment", "coverPayment"] as const)(
  "%s knows no refund, for a refund has no moves of its own",
  async (id) => {
    const { body: refund } = await acme.issue(refundOf((await acme.create()).paymentId));

    const response = await acme.sandbox(id, { path: { paymentId: refund.paymentId } });

    expect(problemOf(response)).toEqual(UNKNOWN_PAYMENT);
    expect(await acme.get(refund.paymentId)).toMatchObject({ paymentStatus: "AUTHORIZED" });
  },
);

describe("the records of a merchant", () => {
  const list = async (query: Readonly<Record<string, string | number>>) =>
    (await acme.sandbox("listPayments", { query })).body;
  const refund = async (paymentId: string, fields = {}) =>
    (await acme.issue(refundOf(paymentId, fields))).body.paymentId;

  test("show a refund with all that is stored of it", async () => {
    const payment = await acme.create({ settledAt: AT });
    const request = refundOf(payment.paymentId, {
      amount: dollars(25.5),
      clientReferenceId: "Bestellung ✓ 😀",
      softDescriptor: "ACME refund",
    });
    const { body } = await acme.issue(request);

    expect(await acme.get(body.paymentId)).toEqual({
      kind: "REFUND",
      ...body,
      amount: request.amount,
      status: "PENDING",
      originalPaymentId: payment.paymentId,
      softDescriptor: "ACME refund",
      requestKey: request.requestKey,
      due: { at: "2026-11-19T05:00:00.000Z", holidays: [] },
      history: [{ paymentStatus: "PENDING", at: AT }],
    });
    expect(await acme.get(payment.paymentId)).toEqual({ ...payment, refundableAmount: dollars(74.5) });
    const processing = await acme.create({ status: "PROCESSING" });
    expect(await acme.get(await refund(processing.paymentId))).toMatchObject({ due: null });
  });

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

  test("are listed by twenty where no limit is given", async () => {
    for (let left = 21; left > 0; left -= 1) await acme.create();

    const page = await list({});

    expect(page.items).toHaveLength(20);
    expect(page.nextCursor).not.toBeNull();
  });

  test.each([
    "x",
    ...["1 \0", "253402300800000 x"].map((text) => Buffer.from(text).toString("base64url")),
    "' or 1=1",
    "bm90IGEgY3Vyc29y",
  ])("are not listed by the cursor %s, nor is anything else", async (cursor) => {
    const lists = [
      "listPayments",
      "listDeliveries",
      "listRequests",
      "listEvents",
      "listSubscriptions",
    ] as const;
    for (const id of lists) {
      const response = await acme.sandbox(id, { query: { cursor } });

      expect(problemOf(response)).toEqual(violationAt("/query/cursor", expect.any(String)));
    }
  });
});
