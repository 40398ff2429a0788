import { describe, expect, test } from "vitest";
import { createMerchant, refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant, problemOf, UNKNOWN_PAYMENT, violationAt } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { forEachTest } from "../../helpers/suite.ts";

const NOW = new Date("2026-11-16T15:00:00.000Z");
const AT = NOW.toISOString();

const transitions = ["settlePayment", "failPayment", "coverPayment"] as const;

const server = useTestServer({ realNow: () => NOW });
const acme = forEachTest(() => createSandboxMerchant(server));

describe("an original payment", () => {
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
