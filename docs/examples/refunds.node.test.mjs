import assert from "node:assert/strict";
import { test } from "node:test";
import { startSandbox } from "@refund-contract/sandbox";

test("a payment that failed can't be refunded", async () => {
  await using sandbox = await startSandbox();
  const payment = await sandbox.payments.create({ amount: { currency: "USD", value: 250 } });
  await sandbox.payments.fail(payment.paymentId);

  assert.equal((await sandbox.payments.get(payment.paymentId)).status, "FAILED");
});
