import { describe, expect, test } from "vitest";
import { countRows, createMerchant, refundOf } from "../../helpers/factories.ts";
import {
  createSandboxMerchant,
  eventsOf,
  problemOf,
  UNKNOWN_PAYMENT,
  violationAt,
} from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();

const statusAfter = { settlePayment: "SETTLED", failPayment: "FAILED", coverPayment: "COVERED" } as const;
const transitions = Object.keys(statusAfter) as (keyof typeof statusAfter)[];
const possible: Record<string, string[]> = {
  PROCESSING: ["settlePayment", "failPayment"],
  SETTLED: ["failPayment", "coverPayment"],
  FAILED: [],
  COVERED: [],
};
const cases = Object.entries(possible).flatMap(([from, allowed]) =>
  transitions.map((move) => ({ from, move, to: statusAfter[move], allowed: allowed.includes(move) })),
);

const server = useTestServer({ realNow: () => NOW });
const acme = forEachTest(() => createSandboxMerchant(server));

describe("an original payment", () => {
  /** @decision D16a D20 */
  describe("changes as the table says", () => {
    test.each(cases.filter(({ allowed }) => allowed))(
      "$move: $from becomes $to",
      async ({ from, move, to }) => {
        const payment = await acme.create({ status: from });
        const { paymentId } = payment;
        const before = await eventsOf(server, paymentId);

        const response = await acme.sandbox(move, { path: { paymentId } });

        expect(response.status).toBe(200);
        expect(response.body).toEqual({
          ...payment,
          status: to,
          settledAt: move === "settlePayment" ? AT : payment.settledAt,
          history: [...payment.history, { status: to, at: AT }],
        });
        expect(await acme.get(paymentId)).toEqual(response.body);
        const event = { type: `payment.${to.toLowerCase()}`, sequence: before.length + 1, occurred_at: NOW };
        expect(await eventsOf(server, paymentId)).toEqual([...before, event]);
      },
    );
  });

  /** @decision D16a */
  describe("stays as it is where the table has no transition, and the response says so", () => {
    test.each(cases.filter(({ allowed }) => !allowed))("$move: $from", async ({ from, move, to }) => {
      const payment = await acme.create({ status: from });
      const { paymentId } = payment;
      const isFinal = possible[from]?.length === 0;
      const before = await countRows(server);

      const response = await acme.sandbox(move, { path: { paymentId } });

      expect(problemOf(response)).toEqual({
        status: 409,
        errorCode: "IMPOSSIBLE_MOVE",
        detail: `The payment is ${from}, ${isFinal ? "which is final, " : ""}so it can't become ${to}.`,
      });
      expect(await acme.get(paymentId)).toEqual(payment);
      expect(await countRows(server)).toEqual(before);
    });
  });

  test("settles at the time that is given", async () => {
    const { paymentId } = await acme.create({ status: "PROCESSING" });

    const { body } = await acme.sandbox("settlePayment", {
      path: { paymentId },
      body: { settledAt: "2026-11-13T10:30:00-05:00" },
    });

    expect(body).toMatchObject({ status: "SETTLED", settledAt: "2026-11-13T15:30:00.000Z" });
    expect(body.history.at(-1)).toEqual({ status: "SETTLED", at: AT });
  });

  test.each([
    [
      { settledAt: "2026-11-16T15:00:00.001Z" },
      "/settledAt",
      `must not lie after the sandbox's time, which is ${AT}`,
    ],
    [{ settledAt: "2019-12-31T23:59:59Z" }, "/settledAt", "must lie in the years 2020 to 2099"],
    [{ settledAt: "2026-02-30T12:00:00Z" }, "/settledAt", expect.stringContaining("must be a time")],
  ])("does not settle by %j, and the response names %j", async (body, pointer, message) => {
    const payment = await acme.create({ status: "PROCESSING" });
    const { paymentId } = payment;

    const response = await acme.sandbox("settlePayment", { path: { paymentId }, body });

    expect(problemOf(response)).toEqual(violationAt(pointer, message));
    expect(await acme.get(paymentId)).toEqual(payment);
  });
});

describe.each(["getPayment", ...transitions] as const)("%s", (id) => {
  test("responds for another merchant's payment as for one that does not exist", async () => {
    const payment = await acme.create({ status: "PROCESSING" });
    const { paymentId } = payment;
    const { token } = await createMerchant(server);

    const response = await acme.sandbox(id, { path: { paymentId }, token });

    expect(problemOf(response)).toEqual(UNKNOWN_PAYMENT);
    expect(await acme.get(paymentId)).toEqual(payment);
  });
});

test.each(transitions)("%s knows no refund, for a refund has no moves of its own", async (id) => {
  const { paymentId } = await acme.create();
  const { body: refund } = await acme.issue(refundOf(paymentId));

  const response = await acme.sandbox(id, { path: { paymentId: refund.paymentId } });

  expect(problemOf(response)).toEqual(UNKNOWN_PAYMENT);
  expect(await acme.get(refund.paymentId)).toMatchObject({ paymentStatus: "AUTHORIZED" });
});
