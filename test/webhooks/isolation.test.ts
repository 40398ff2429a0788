import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { engines } from "../helpers/databases.ts";
import { startTestServer } from "../helpers/server.ts";
import { givenSubscriber } from "./given.ts";
import { startRawReceiver, startReceiver } from "./receiver.ts";
import { givenReplicas } from "./replica.ts";

const QUEUED = 100_000;
const PER_SUBSCRIPTION = 16;

describe.each(engines)("a dead endpoint on %s", { timeout: 120_000 }, (engine) => {
  test("with 100,000 deliveries queued holds up no healthy one, of its own merchant or another's", async () => {
    await using replicas = await givenReplicas();
    await using server = await (engine === "postgres"
      ? replicas.start({ drainMs: 0 })
      : startTestServer({ webhooks: { drainMs: 0 } }));
    await using healthy = await startReceiver();
    await using dead = await startRawReceiver(() => {}); // takes connections, and never answers
    const [acme, other] = [await givenSubscriber(server), await givenSubscriber(server)];
    const key = await acme.subscribe(`http://127.0.0.1:${dead.port}/`);
    await acme.refund();
    const { db, background } = server.database;
    await sql`
      insert into deliveries (webhook_id, event_id, merchant, subscription_key, due_at)
      select 'msg_' || gen_random_uuid(), event_id, merchant, ${key}, due_at
      from (select * from deliveries where subscription_key = ${key} limit 1) as one, generate_series(1, ${QUEUED})`.execute(
      background,
    );
    await acme.subscribe(healthy.url);
    await other.subscribe(healthy.url);

    for (let count = 1; count <= 20; count += 1) {
      await acme.refund();
      await other.refund();
      await healthy.first(2 * count);
    }

    const waiting = db.selectFrom("deliveries").where("state", "=", "PENDING");
    const { rows } = await waiting
      .select((select) => select.fn.countAll<number>().as("rows"))
      .executeTakeFirstOrThrow();
    expect(rows).toBeGreaterThan(QUEUED - 1_000);
    expect(dead.connections()).toBeLessThanOrEqual(2 * PER_SUBSCRIPTION);
  });
});
