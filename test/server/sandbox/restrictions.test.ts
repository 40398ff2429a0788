import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { refundOf } from "../../helpers/factories.ts";
import { createSandboxMerchant } from "../../helpers/sandbox.ts";
import { useTestServer } from "../../helpers/server.ts";
import { LONG_AGO } from "../../helpers/store-factories.ts";

const NONE = { blocked: false, held: false };

describe.each(engines)("restrictions of a sandbox's merchant on %s", (engine) => {
  const server = useTestServer({ engine });

  test("hold its refunds alone, and authorize them with the response that ends the hold", async () => {
    const merchants = [await createSandboxMerchant(server), await createSandboxMerchant(server)] as const;
    const [acme] = merchants;
    const issue = async ({ create, issue }: typeof acme) =>
      (await issue(refundOf((await create({ settledAt: LONG_AGO })).paymentId))).body;

    const held = await acme.sandbox("setRestrictions", { body: { ...NONE, held: true } });
    const refunds = await Promise.all(merchants.map(issue));
    const due = await acme.sandbox("getClock");
    const ended = await acme.sandbox("setRestrictions", { body: NONE });

    expect([held.body, ended.body]).toEqual([{ ...NONE, held: true }, NONE]);
    expect(refunds.map(({ paymentStatus }) => paymentStatus)).toEqual(["PENDING", "AUTHORIZED"]);
    expect(due.body).toMatchObject({ next: null });
    expect(await acme.get(refunds[0]?.paymentId ?? "")).toMatchObject({ status: "AUTHORIZED" });
  });

  test("block its published calls alone from the response on, until a reset", async () => {
    const merchants = [await createSandboxMerchant(server), await createSandboxMerchant(server)] as const;
    const [acme] = merchants;
    const statuses = () => Promise.all(merchants.map(async ({ issue }) => (await issue({})).status));

    await acme.sandbox("setRestrictions", { body: { ...NONE, blocked: true } });
    const blocked = await statuses();
    const shown = await acme.sandbox("getRestrictions");
    const recorded = await acme.sandbox("listRequests");
    await acme.sandbox("resetSandbox");

    expect(blocked).toEqual([401, 400]);
    expect(shown.body).toEqual({ ...NONE, blocked: true });
    expect(recorded.body.items).toMatchObject([{ status: 401 }]);
    expect(await statuses()).toEqual([400, 400]);
    expect((await acme.sandbox("getRestrictions")).body).toEqual(NONE);
  });
});
