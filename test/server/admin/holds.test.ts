import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../../helpers/admin.ts";
import { createPayment, refundOf } from "../../helpers/factories.ts";
import { type Production, startProduction } from "../../helpers/production.ts";
import { post, type TestServer } from "../../helpers/server.ts";
import { getRefund, newMerchant } from "../../helpers/store-factories.ts";

/** @decision D17 */
describe("npm run admin -- hold, release and holds", () => {
  let production: Production;
  let server: TestServer;
  beforeAll(async () => {
    production = await startProduction();
    server = await production.start();
  });
  afterAll(() => production.end());

  const run = (...args: string[]) =>
    runCommand(args, { env: { DATABASE_URL: production.env.DATABASE_URL ?? "" } });

  test("hold a merchant's refunds and release them", async () => {
    const merchant = newMerchant();
    const token = await production.issuer.token({ merchant_id: merchant });
    const paymentId = await createPayment(server, { merchant });
    const issue = async () =>
      (await post<{ paymentId: string }>(server.url, "/v1/refunds", refundOf(paymentId), { token })).body;

    const held = await run("hold", "--merchant", merchant, "--reason", "a stolen\ttoken");
    const refund = await issue();
    const repeated = await run("hold", "--merchant", merchant, "--reason", "another");
    const everybody = await run("hold", "--all", "--reason", "an audit");
    const listed = await run("holds");
    const released = await run("release", "--merchant", merchant);
    const twice = await run("release", "--merchant", merchant);
    await run("release", "--all");
    const none = await run("holds");

    const until = "refunds stay PENDING until they are released\n";
    expect([held, repeated, everybody].map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, `${merchant}: held; ${until}`],
      [0, `${merchant}: was held already; ${until}`],
      [0, `all merchants: held; ${until}`],
    ]);
    expect(refund).toMatchObject({ paymentStatus: "PENDING" });
    expect(
      listed.stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(/ {2,}/)),
    ).toEqual([
      ["merchant", "held", "reason"],
      [merchant, expect.stringMatching(/^20\d\d-.*Z$/), "a stolen?token"],
      ["all merchants", expect.stringMatching(/^20\d\d-.*Z$/), "an audit"],
    ]);
    expect([released, twice].map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
      [0, `${merchant}: released\n`, "Still held: all merchants\n"],
      [1, `${merchant}: there is no such hold\n`, "Still held: all merchants\n"],
    ]);
    expect(none.stdout).toBe("None.\n");
    await expect
      .poll(() => getRefund(server.database.db, { merchant, paymentId: refund.paymentId }), {
        timeout: 5_000,
      })
      .toMatchObject({ status: "AUTHORIZED" });
    expect(await issue()).toMatchObject({ paymentStatus: "AUTHORIZED" });
  });

  test.each([
    [["hold", "--reason", "x"], "hold takes either --merchant or --all"],
    [["hold", "--all", "--merchant", "acme", "--reason", "x"], "hold takes either --merchant or --all"],
    [["hold", "--all"], "required option '--reason <text>' not specified"],
    [["hold", "--all", "--reason", " "], "--reason <text>' argument ' ' is invalid. It must not be empty."],
    [["release", "--merchant", ""], "--merchant <merchant>' argument '' is invalid. It must not be empty."],
    [["release"], "release takes either --merchant or --all"],
  ])("refuse %j, which could hold or release too much", async (args, complaint) => {
    const { code, stderr } = await run(...args);

    expect([code, stderr]).toEqual([2, expect.stringContaining(complaint)]);
    expect((await run("holds")).stdout).toBe("None.\n");
  });
});
