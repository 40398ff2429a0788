/** A receiver that never responds does not delay the deliveries of others, even with thousands that wait. */
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { createSubscriber, startRawReceiver, startReceiver, until } from "../../helpers/receiver.ts";
import { startTestServer, type TestServer } from "../../helpers/server.ts";

const QUEUED = 20_000;
const PART = 5_000;
const PER_SUBSCRIPTION = 16;

/** Adds as many deliveries as the only one there is, due so much later. */
async function copyDelivery({ database }: TestServer, count: number, later: string): Promise<void> {
  await sql`
    insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
    select 'msg_' || gen_random_uuid(), event_id, merchant, subscription_key, due_at + ${later}::interval
    from (select * from deliveries limit 1) as one, generate_series(1, ${count})`.execute(
    database.background,
  );
}

/** How many deliveries wait that are not in progress. */
async function countWaiting({ database }: TestServer): Promise<number> {
  const deliveries = database.db.selectFrom("deliveries").where("state", "=", "PENDING");
  const waiting = deliveries.where("leased_until", "is", null);
  const { rows } = await waiting
    .select((select) => select.fn.countAll<number>().as("rows"))
    .executeTakeFirstOrThrow();
  return rows;
}

describe.each(engines)("a dead endpoint on %s", (engine) => {
  test("with tens of thousands of queued deliveries delays no other endpoint, of its own merchant or another's", async () => {
    await using server = await startTestServer({ engine, webhooks: { drainMs: 0 } });
    await using healthy = await startReceiver();
    await using dead = await startRawReceiver(() => {}); // takes connections, and never responds
    const [acme, other] = [await createSubscriber(server), await createSubscriber(server)];
    await acme.subscribe(`http://127.0.0.1:${dead.port}/`);
    await acme.refund();
    // In parts, because the embedded store blocks this process meanwhile.
    for (let inserted = 0; inserted < QUEUED; inserted += PART) await copyDelivery(server, PART, "0 hours");
    await acme.subscribe(healthy.url);
    await other.subscribe(healthy.url);

    for (let count = 1; count <= 20; count += 1) {
      await acme.refund();
      await other.refund();
      await healthy.first(2 * count);
    }

    expect(await countWaiting(server)).toBeGreaterThan(QUEUED - 1_000);
    expect(dead.connections()).toBeLessThanOrEqual(2 * PER_SUBSCRIPTION);
  });
});

describe.each(engines)("a subscription with 3,000 waiting deliveries on %s", (engine) => {
  test("is ended at once, and its deliveries in batches", async () => {
    await using server = await startTestServer({ engine, webhooks: { drainMs: 0 } });
    await using silent = await startRawReceiver(() => {});
    const acme = await createSubscriber(server);
    const subscriptionKey = await acme.subscribe(`http://127.0.0.1:${silent.port}/`);
    await acme.refund();
    await copyDelivery(server, 3_000, "1 hour");

    const { status } = await acme.sandbox("endSubscription", { path: { subscriptionKey } });

    expect(status).toBe(204);
    await until(async () => (await countWaiting(server)) === 0);
  });
});
