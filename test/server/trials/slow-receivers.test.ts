import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { createSubscriber, startReceiver, until } from "../../helpers/receiver.ts";

/** More than there are slots at a server. */
const MERCHANTS = 13;
const LIMITS = { total: 12, unproven: 8, perMerchant: 8, perSubscription: 8 };
/** Three quarters of the slots for receivers that are not quick. */
const FOR_SLOW = 6;
const SLOW_MS = 2_100;
const TIMEOUT_MS = 60_000;

test("slow receivers of many merchants take no slot of quick ones, and as many are served by another server", async () => {
  await using replicas = await createDeployment();
  const settings = { drainMs: 0, timeoutMs: TIMEOUT_MS, leaseMs: 2 * TIMEOUT_MS, limits: LIMITS };
  const server = await replicas.start({ webhooks: settings });
  let waiting = 0;
  await using slow = await startReceiver(async (response, _, count) => {
    if (count > 0) {
      waiting += 1; // takes far longer still
      return;
    }
    await setTimeout(SLOW_MS);
    response.writeHead(204).end();
  });
  await using quick = await startReceiver();
  const merchants = await Promise.all(Array.from({ length: MERCHANTS }, () => createSubscriber(server)));
  for (const merchant of merchants) await merchant.subscribe(slow.url);
  const neighbour = await createSubscriber(server);
  await neighbour.subscribe(quick.url);
  await neighbour.refund();
  // One receiver is seen to be slow. To see it of each would take several times as long.
  await merchants[0]?.refund();
  const { db } = server.database;
  const known = db.selectFrom("subscriptions").where("timeouts", "=", 1).select("subscription_key");
  await until(async () => (await known.execute()).length === 1);
  await db
    .updateTable("subscriptions")
    .set({ timeouts: 1 })
    .where("merchant", "!=", neighbour.merchant)
    .execute();
  await Promise.all(merchants.flatMap((merchant) => [merchant.refund(), merchant.refund()]));
  await until(() => waiting >= FOR_SLOW);

  const startedAt = performance.now();
  for (let count = 2; count <= 6; count += 1) {
    await neighbour.refund();
    await quick.first(count);
  }

  // Nobody has waited for a slow attempt to end.
  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS);
  expect(waiting).toBe(FOR_SLOW);
  await replicas.start({ webhooks: settings });
  await until(() => waiting >= 2 * FOR_SLOW);
  expect(waiting).toBe(2 * FOR_SLOW);
});

test("receivers that become slow together delay a quick one only until they count as slow", async () => {
  await using replicas = await createDeployment();
  const settings = { drainMs: 0, timeoutMs: TIMEOUT_MS, leaseMs: 2 * TIMEOUT_MS, limits: LIMITS };
  const server = await replicas.start({ webhooks: settings });
  let waiting = 0;
  await using slow = await startReceiver(() => {
    waiting += 1; // takes longer than the test
  });
  await using quick = await startReceiver();
  const merchants = await Promise.all(Array.from({ length: MERCHANTS }, () => createSubscriber(server)));
  for (const merchant of merchants) await merchant.subscribe(slow.url);
  const neighbour = await createSubscriber(server);
  await neighbour.subscribe(quick.url);
  await server.database.db.updateTable("subscriptions").set({ timeouts: 0 }).execute();
  await Promise.all(merchants.map((merchant) => merchant.refund()));
  await until(() => waiting >= LIMITS.total);

  const startedAt = performance.now();
  await neighbour.refund();
  await quick.first(1);

  expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS);
});
