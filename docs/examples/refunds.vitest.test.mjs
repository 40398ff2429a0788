// A merchant's test with Vitest that starts a sandbox inside the test's own process.
import { createClient } from "@refund-contract/client";
import { startSandbox } from "@refund-contract/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";

let sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
}, 60_000); // far more than the two seconds that it takes
afterAll(() => sandbox.close());

test("a refund is authorized when its waiting period has passed", async () => {
  const client = createClient({ baseUrl: sandbox.url, accessToken: sandbox.accessToken });
  const { paymentId, paymentStatus } = await client.refunds.issue({
    paymentId: "pay_recent",
    amount: "19.99",
    requestKey: "order-1042-refund",
  });
  expect(paymentStatus).toBe("PENDING");

  await sandbox.clock.advance({ businessDays: 10 });

  expect(await sandbox.payments.get(paymentId)).toMatchObject({ status: "AUTHORIZED" });
}, 30_000); // the first call of a sandbox takes longer than the others
