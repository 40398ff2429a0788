import { describe, expect, test } from "vitest";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, type Refund, refundOf } from "../../helpers/factories.ts";
import { until } from "../../helpers/receiver.ts";
import { post } from "../../helpers/server.ts";
import { newMerchant } from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";

describe("npm run admin -- payouts and reconcile", () => {
  const production = forSuite(() => startProduction());
  const server = forSuite(() => production.start());

  const run = (args: readonly string[], stdin = "") => production.admin(args, stdin);
  const read = async (after: number, limit = 100) => {
    const { stdout } = await run(["payouts", "--after", `${after}`, "--limit", `${limit}`]);
    return stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { cursor: number });
  };
  const feed = (lines: readonly unknown[]) =>
    run(
      ["reconcile"],
      lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
    );

  /** A merchant, and refunds of one payment that the payment system has read. */
  async function payOut(count: number) {
    const merchant = newMerchant();
    const token = await production.issuer.token({ merchant_id: merchant });
    const paymentId = await createPayment(server, { merchant });
    const [{ cursor = 0 } = {}] = (await read(0)).slice(-1);
    const requests = Array.from({ length: count }, () => refundOf(paymentId));
    const refunds: Refund[] = [];
    for (const request of requests)
      refunds.push((await post<Refund>(server.url, "/v1/refunds", request, { token })).body);
    const payouts = await until(async () => {
      const page = await read(cursor);
      return page.length === count ? page : undefined;
    });
    return { merchant, paymentId, requests, refunds, payouts, cursor };
  }

  test("print each payout once from a cursor to the next, and refuse a cursor that nothing has reached", async () => {
    const { merchant, paymentId, requests, refunds, payouts, cursor } = await payOut(3);

    const first = await read(cursor, 2);
    const rest = await read(first.at(-1)?.cursor ?? 0, 2);
    const ahead = await run(["payouts", "--after", `${(Date.now() + 3_600_000) * 1000}`]);

    expect([...first, ...rest]).toEqual(payouts);
    expect(payouts).toMatchObject(
      refunds.map((refund, index) => ({
        merchant,
        paymentId: refund.paymentId,
        requestKey: requests[index]?.requestKey,
        originalPaymentId: paymentId,
        amount: { currency: "USD", value: 1 },
        status: "AUTHORIZED",
      })),
    );
    expect(ahead).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^--after \d+ lies after/),
    });
    expect(await run(["payouts", "--after", "x"])).toMatchObject({ code: 2 });
  });

  test("list what differs and what is wrong in a line by its number and field, and exit with 1", async () => {
    const { payouts } = await payOut(1);
    const [payout] = payouts;

    const { code, stdout } = await feed([
      payout,
      { ...payout, amount: { currency: "USD", value: 2.5 } },
      { ...payout, amount: { currency: "USD", value: "2.50" }, status: "PAID" },
      { ...payout, authorizedAt: "2199-01-01T00:00:00Z" },
      "{",
    ]);

    expect(code).toBe(1);
    expect(stdout.split("\n").toSorted()).toEqual([
      "",
      "5 lines: 0 inserted, 0 kept, 1 unchanged, 1 different, 3 refused",
      "line 2 differs: amount.value is 1 here",
      "line 3 refused: amount.value must be a number; status must be one of: AUTHORIZED, TERMINAL_FAILED",
      expect.stringMatching(/^line 4 refused: authorizedAt lies after the present, which is 20/),
      "line 5 refused: is not valid JSON",
    ]);
    expect(await feed([{ ...payout, amount: { currency: "USD", value: 2.5 } }])).toMatchObject({ code: 1 });
  });
});
