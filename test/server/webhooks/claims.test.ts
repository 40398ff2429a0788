import { sql } from "kysely";
import { expect, test } from "vitest";
import { recordPace } from "../../../server/storage/webhooks/record-attempts.ts";
import { createDeployment } from "../../helpers/deployment.ts";
import { query } from "../../helpers/postgres.ts";
import { accept, createSubscriber, startReceiver } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";

const [PER_MERCHANT, PER_SUBSCRIPTION, ON_TRIAL] = [64, 16, 4];

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

test("fifty attempts of a merchant may fail in a second, and the others wait", async () => {
  await using server = await startTestServer({ engine: "postgres", webhooks: { drainMs: 0 } });
  const seconds: number[] = [];
  const { promise: created, resolve: respond } = Promise.withResolvers<void>();
  await using receiver = await startReceiver(async (response) => {
    await created;
    seconds.push(Math.floor(performance.now() / 1_000));
    response.writeHead(500).end();
  });
  const acme = await createSubscriber(server);
  for (let index = 0; index < 25; index += 1) await acme.subscribe(`${receiver.url}/${index}`);
  await Promise.all(Array.from({ length: 10 }, acme.refund));

  const begin = Math.floor(performance.now() / 1_000);
  respond();
  await receiver.first(250);

  // In the first two seconds nobody knows yet that all fail, so as many again may have begun. A late arrival counts for a later second.
  const until = (second: number) => seconds.filter((claimedAt) => claimedAt <= begin + second).length;
  expect(until(0)).toBeLessThanOrEqual(50 + PER_MERCHANT);
  expect(until(1)).toBeLessThanOrEqual(2 * (50 + PER_MERCHANT));
});

test("a server that stops in the middle of a backlog claims nothing more, and the next one sends the rest", async () => {
  await using servers = await createDeployment();
  const one = await servers.start();
  const { promise: stopping, resolve: respond } = Promise.withResolvers<void>();
  await using receiver = await startReceiver((...args) => void stopping.then(() => accept(...args)));
  const acme = await createSubscriber(one);
  await acme.subscribe(receiver.url);
  for (let made = 0; made < 20; made += 1) await acme.refund();
  await receiver.first(ON_TRIAL);

  const closed = one.close();
  await expect.poll(() => fetch(one.url).catch(() => "closed"), { timeout: 60_000 }).toBe("closed"); // all parts stop together
  respond();
  await closed;

  const counted = "state, attempts, fence as claims, count(*)::integer";
  const free = `select ${counted} from deliveries where leased_until is null group by 1, 2, 3 order by 1`;
  expect(await query(servers.url, free)).toEqual([
    { state: "DELIVERED", attempts: 1, claims: 1, count: ON_TRIAL },
    { state: "PENDING", attempts: 0, claims: 0, count: 20 - ON_TRIAL },
  ]);
  await servers.start();
  const received = await receiver.first(20);
  expect(new Set(received.map(({ webhookId }) => webhookId)).size).toBe(received.length);
});
