// A merchant's test with Vitest, against the sandbox that `exec` starts.
import { createServer } from "node:http";
import { createClient, expressWebhookHandler } from "@refund-contract/client";
import { afterAll, beforeAll, expect, test } from "vitest";

const {
  REFUNDS_SANDBOX_URL: baseUrl,
  REFUNDS_SANDBOX_TOKENS = "",
  REFUNDS_SANDBOX_SECRET: secretKey,
  VITEST_POOL_ID,
} = process.env;
const accessToken = REFUNDS_SANDBOX_TOKENS.split(",")[Number(VITEST_POOL_ID) - 1]; // a merchant for each worker
const client = createClient({ baseUrl, accessToken, attemptTimeoutMs: 1_000 });
const statuses = new Map(); // your database: the latest event of each refund
const store = (id, { sequence, status }) =>
  (statuses.get(id)?.sequence ?? 0) < sequence && statuses.set(id, { sequence, status });
const receiver = createServer(
  expressWebhookHandler({
    secretKey,
    onEvent: ({ sequence, data }) => store(data.paymentId, { sequence, status: data.paymentStatus }),
    onUnknownEvent: () => {},
    onError: () => {},
  }),
);

const sandbox = (path, body) =>
  fetch(`${baseUrl}/sandbox/${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${accessToken}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

beforeAll(async () => {
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${receiver.address().port}/`;
  await client.webhooks.subscribe({ url, secretKey, subscriptionDetails: { type: "ALL" } });
});
afterAll(() => receiver.close());

test("a refund waits, and is authorized days later", { timeout: 20_000 }, async () => {
  const reference = `order-${crypto.randomUUID()}`;
  const order = {
    paymentId: "pay_processing", // its refund waits, even if another worker moves the clock
    amount: "19.99",
    clientReferenceId: reference,
    requestKey: reference,
  };
  const refund = await client.refunds.issue(order);
  expect(refund.paymentStatus).toBe("PENDING");

  await sandbox("payments/pay_processing/settle", {});
  await sandbox("clock/advance", { businessDays: 10 });

  await expect.poll(() => statuses.get(refund.paymentId)?.status, { timeout: 10_000 }).toBe("AUTHORIZED");
});
