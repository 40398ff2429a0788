import { onTestFinished } from "vitest";
import { createPayment } from "../../../helpers/factories.ts";
import type { Settings } from "../../../helpers/process.ts";
import { startProduction } from "../../../helpers/production.ts";
import { spawnServer } from "../../../helpers/server.ts";

const MERCHANT = "merchant";

/** A merchant with a payment to refund, and servers in production mode; all of it ends with the test. */
export async function startProductive() {
  const production = await startProduction();
  onTestFinished(production.end);
  const database = await production.database.open();
  const paymentId = await createPayment({ database }, { merchant: MERCHANT, amountCents: 9_999_999_00 });
  return {
    production,
    db: database.db,
    paymentId,
    /** Valid for longer than any of these tests takes. */
    token: (claims = {}) =>
      production.issuer.token({
        exp: Math.floor(Date.now() / 1_000) + 3_600,
        merchant_id: MERCHANT,
        ...claims,
      }),
    start: (env: Settings = {}) => spawnServer({ dataDir: "unused", env: { ...production.env, ...env } }),
  };
}
