import { describe, expect, test } from "vitest";
import { startProduction } from "../../helpers/deployment.ts";
import { createPayment, refundOf } from "../../helpers/factories.ts";
import { until } from "../../helpers/receiver.ts";
import { post } from "../../helpers/server.ts";
import { newMerchant } from "../../helpers/store-factories.ts";
import { forSuite } from "../../helpers/suite.ts";

describe("npm run admin -- payouts and reconcile", () => {
  const production = forSuite(() => startProduction());
  const server = forSuite(() => production.start());

  const run = (args: readonly string[], stdin = "") => production.admin(args, stdin);
  const reconcile = (lines: readonly unknown[]) =>
    run(
      ["reconcile"],
      lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"),
    );

  test("reconcile names the line and the field of each difference and each error, and exits with 1", async () => {
    const merchant = newMerchant();
    const token = await production.issuer.token({ merchant_id: merchant });
    const request = refundOf(await createPayment(server, { merchant }));
    await post(server.url, "/v1/refunds", request, { token });
    const payout = await until(async () => {
      const { stdout } = await run(["payouts", "--after", "0"]);
      return stdout === "" ? undefined : (JSON.parse(stdout) as object);
    });

    const { code, stdout } = await reconcile([
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
    expect(await reconcile([{ ...payout, amount: { currency: "USD", value: 2.5 } }])).toMatchObject({
      code: 1,
    });
  });
});
