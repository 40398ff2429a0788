import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { refundOf } from "../../helpers/factories.ts";
import { accept, type Responder, respondWith, startReceiver } from "../../helpers/receiver.ts";
import { createSubscriber, until } from "../../helpers/subscriber.ts";
import { findEventErrors } from "./event-schema.ts";

/** Random numbers from 0 up to 1, the same on each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe("two servers on one PostgreSQL", () => {
  test("deliver 1,000 events to a receiver that fails one in five: all arrive, one attempt at a time", async () => {
    await using replicas = await createDeployment();
    const [one, other] = [await replicas.start(), await replicas.start()];
    const random = createRandom(20_261_121);
    const underWay = new Set<string>();
    const overlapping: string[] = [];
    const delivered = new Map<string, { resource: string; sequence: number }>();
    const respond: Responder = (response, delivery, count) => {
      const { webhookId, event } = delivery;
      if (underWay.has(webhookId)) overlapping.push(webhookId);
      underWay.add(webhookId);
      const success = random() >= 0.2;
      const { paymentId } = event.data;
      if (success) {
        delivered.set(webhookId, {
          resource: `${event.type.split(".")[0]} ${paymentId}`,
          sequence: event.sequence,
        });
      }
      setImmediate(() => {
        // Before the response, because the sender may send again as soon as it has that.
        underWay.delete(webhookId);
        (success ? accept : respondWith(500))(response, delivery, count);
      });
    };
    await using receiver = await startReceiver(respond);
    const acme = await createSubscriber(one);
    await acme.subscribe(receiver.url);
    const urls = [one, other].map((server) => server.url);
    const call = (index: number, path: string, body: unknown) =>
      fetch((urls[index % 2] ?? "") + path, {
        method: "POST",
        headers: { Authorization: `Bearer ${acme.token}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }).then((response) => response.json() as Promise<{ paymentId: string }>);

    // Four events for each payment: its refund waits, it settles, it is covered, and its refund fails.
    const story = async (index: number) => {
      const { paymentId } = await call(index, "/sandbox/payments", {
        amount: { currency: "USD", value: 10 },
        status: "PROCESSING",
      });
      await call(index + 1, "/v1/refunds", refundOf(paymentId));
      await call(index, `/sandbox/payments/${paymentId}/settle`, {});
      await call(index + 1, `/sandbox/payments/${paymentId}/cover`, {});
    };
    for (let start = 0; start < 250; start += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, index) => story(start + index)));
    }

    await until(async () => {
      await call(0, "/sandbox/clock/advance", { by: "P1D" });
      return delivered.size === 1_000 ? true : undefined;
    });
    expect(overlapping).toEqual([]);
    expect(receiver.received.length).toBeGreaterThan(1_100);
    const sequences = Map.groupBy(delivered.values(), ({ resource }) => resource);
    expect(sequences.size).toBe(500);
    for (const events of sequences.values()) {
      expect(events.map(({ sequence }) => sequence).toSorted()).toEqual([1, 2]);
    }
    expect(receiver.received.flatMap(({ event }) => findEventErrors(event))).toEqual([]);
  });

  test("a server that holds a delivery for longer than its lease writes nothing, and another one delivers it", async () => {
    await using replicas = await createDeployment();
    const settings = { leaseMs: 500, timeoutMs: 60_000 };
    const [one] = [
      await replicas.start({ webhooks: settings }),
      await replicas.start({ webhooks: settings }),
    ];
    const late: (() => void)[] = [];
    await using receiver = await startReceiver((response, delivery, count) => {
      if (count === 0) late.push(() => response.writeHead(500).end());
      else accept(response, delivery, count);
    });
    const acme = await createSubscriber(one);
    await acme.subscribe(receiver.url);
    await acme.refund();

    const delivered = await acme.delivery("DELIVERED", 1);
    late[0]?.();
    await acme.refund();
    await until(async () =>
      (await acme.deliveries()).every(({ dueAt }) => dueAt === null) ? true : undefined,
    );

    const first = (await acme.deliveries()).find(({ webhookId }) => webhookId === delivered.webhookId);
    expect(first).toEqual(delivered);
    expect(delivered.attempts).toMatchObject([{ status: 204 }]);
    expect(receiver.received.map(({ webhookId }) => webhookId).slice(0, 2)).toEqual(
      Array(2).fill(delivered.webhookId),
    );
  });

  test("one that stops gives back what it could not end, and the other one delivers it at once", async () => {
    await using replicas = await createDeployment();
    const one = await replicas.start({ webhooks: { drainMs: 200 } });
    await using receiver = await startReceiver((...args) => {
      if (args[2] > 0) accept(...args); // the first one never gets a response
    });
    const acme = await createSubscriber(one);
    await acme.subscribe(receiver.url);
    await acme.refund();
    await receiver.first(1);
    const other = await replicas.start();

    await one.close();

    const [first, second] = await receiver.first(2);
    expect(second?.webhookId).toBe(first?.webhookId);
    const { db } = other.database;
    const attempts = await until(async () => {
      const rows = await db.selectFrom("delivery_attempts").select(["status", "number"]).execute();
      return rows.length > 0 ? rows : undefined;
    });
    expect(attempts).toEqual([{ status: 204, number: 1 }]);
  });

  test("go on when the database has cut all their connections", async () => {
    await using replicas = await createDeployment();
    const one = await replicas.start();
    await using receiver = await startReceiver();
    const acme = await createSubscriber(one);
    await acme.subscribe(receiver.url);
    await acme.refund();
    await receiver.first(1);

    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(one.database.db);

    const paymentId = await until(() => acme.refund().catch(() => undefined));
    await until(() => receiver.received.find(({ event }) => event.data.paymentId === paymentId));
  });
});
