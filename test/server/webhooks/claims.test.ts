import { sql } from "kysely";
import { expect, test } from "vitest";
import { recordPace } from "../../../server/storage/webhooks/attempts.ts";
import { createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";

const PER_SUBSCRIPTION = 16;

test("a receiver gets the next deliveries while the results of the ones before are being recorded", async () => {
  await using server = await startTestServer({ engine: "postgres", webhooks: { drainMs: 0 } });
  await using receiver = await startReceiver();
  const acme = await createSubscriber(server);
  const subscriptionKey = await acme.subscribe(receiver.url);
  const { db } = server.database;
  await recordPace(db, { merchant: acme.merchant, subscriptionKey, pace: "quick" });

  const received = await db.transaction().execute(async (transaction) => {
    await sql`lock table delivery_attempts in share mode`.execute(transaction);
    for (let made = 0; made < 2 * PER_SUBSCRIPTION; made += 1) await acme.refund();
    return receiver.first(2 * PER_SUBSCRIPTION);
  });

  expect(new Set(received.map(({ webhookId }) => webhookId)).size).toBe(2 * PER_SUBSCRIPTION);
});
