import { expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { refundOf } from "../../helpers/factories.ts";
import { begin, query } from "../../helpers/postgres.ts";
import { accept, createSubscriber, respondWith, startReceiver } from "../../helpers/receiver.ts";
import { createSandboxMerchant, type Merchant } from "../../helpers/sandbox.ts";
import { PROMPT } from "./setup.ts";

test("a forgotten transaction delays only the refunds of the payment that it has locked", async () => {
  await using deployment = await createDeployment();
  const { DATABASE_URL: databaseUrl = "" } = deployment.env;
  const server = await deployment.start({ env: { METRICS_PORT: "0" } });
  await using receiver = await startReceiver((...delivery) =>
    (delivery[2] === 0 ? respondWith(500) : accept)(...delivery),
  );
  const [acme, other] = [await createSandboxMerchant(server), await createSubscriber(server)];
  const createWaiting = async (merchant: Merchant) => {
    const settledAt = new Date(Date.now() - 1_000).toISOString();
    const original = (await merchant.create({ settledAt })).paymentId;
    return { original, refund: (await merchant.issue(refundOf(original))).body.paymentId };
  };
  const [locked, free] = [await createWaiting(acme), await createWaiting(other)];
  await other.subscribe(receiver.url);
  await other.refund();
  await receiver.first(1);

  await using holder = await begin(databaseUrl);
  await holder.client.query("select from payments where payment_id = $1 for update", [locked.original]);
  await query(databaseUrl, "update payments set due_at = '2026-01-01' where payment_id = $1", [
    locked.refund,
  ]);
  await query(databaseUrl, "update payments set due_at = '2026-01-02' where payment_id = $1", [free.refund]);
  await expect.poll(() => skippedOf(server.metricsUrl), PROMPT).toBeGreaterThan(0);
  await query(databaseUrl, "update deliveries set due_at = clock_timestamp() where state = 'PENDING'");

  const authorized = { status: "AUTHORIZED" };
  await expect.poll(() => other.get(free.refund), PROMPT).toMatchObject(authorized);
  expect((await other.issue(refundOf(free.original))).status).toBe(201);
  await expect
    .poll(() => receiver.received.slice(1).map(({ webhookId }) => webhookId), PROMPT)
    .toContain(receiver.received[0]?.webhookId);
  expect(await acme.get(locked.refund)).toMatchObject({ status: "PENDING" });
  await holder.client.query("rollback");
  await expect.poll(() => acme.get(locked.refund), PROMPT).toMatchObject(authorized);

  // Now the scan itself has to wait.
  await holder.client.query("begin; lock table payments in access exclusive mode");
  await expect.poll(() => query(databaseUrl, WAITING), PROMPT).not.toEqual([]);
  const sent = receiver.received.length;
  await query(databaseUrl, "update deliveries set state = 'PENDING', due_at = clock_timestamp()");
  await expect.poll(() => receiver.received.length, PROMPT).toBeGreaterThan(sent);
});

const WAITING = "select from pg_locks where relation = 'payments'::regclass and not granted";

async function skippedOf(metricsUrl = ""): Promise<number> {
  const text = await (await fetch(metricsUrl)).text();
  return Number(/^refunds_skipped_total (\d+)$/m.exec(text)?.[1]);
}
