import { describe, expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { refundOf } from "../../helpers/factories.ts";
import {
  accept,
  createSubscriber,
  type Responder,
  respondWith,
  startReceiver,
  until,
} from "../../helpers/receiver.ts";
import { type Merchant, merchantAt } from "../../helpers/sandbox.ts";
import { findEventErrors } from "../webhooks/event-schema.ts";

describe("two servers on one PostgreSQL", () => {
  test("deliver 200 events to a receiver that fails one in five: all arrive, one attempt at a time", async () => {
    await using replicas = await createDeployment();
    const [firstServer, secondServer] = [await replicas.start(), await replicas.start()];
    const underWay = new Set<string>();
    const overlapping: string[] = [];
    const delivered = new Map<string, { resource: string; sequence: number }>();
    const respond: Responder = (response, delivery, count) => {
      const { webhookId, event } = delivery;
      if (underWay.has(webhookId)) overlapping.push(webhookId);
      underWay.add(webhookId);
      const success = count % 5 !== 0;
      const resource = `${event.type.split(".")[0]} ${event.data.paymentId}`;
      if (success) delivered.set(webhookId, { resource, sequence: event.sequence });
      setImmediate(() => {
        // Before the response, because the sender may send again as soon as it has that.
        underWay.delete(webhookId);
        (success ? accept : respondWith(500))(response, delivery, count);
      });
    };
    await using receiver = await startReceiver(respond);
    const acme = await createSubscriber(firstServer);
    await acme.subscribe(receiver.url);
    const atOther = merchantAt(secondServer, acme);

    // Four events for each payment: its refund waits, it settles, it is covered, and its refund fails.
    const story = async ([first, second]: [Merchant, Merchant]) => {
      const { paymentId } = await first.create({ status: "PROCESSING" });
      await second.issue(refundOf(paymentId));
      await first.sandbox("settlePayment", { path: { paymentId }, body: {} });
      await second.sandbox("coverPayment", { path: { paymentId } });
    };
    for (let made = 0; made < 50; made += 10) {
      const pair = (index: number): [Merchant, Merchant] =>
        index % 2 === 0 ? [acme, atOther] : [atOther, acme];
      await Promise.all(Array.from({ length: 10 }, (_, index) => story(pair(index))));
    }

    await until(async () => {
      await acme.sandbox("advanceClock", { body: { by: "P1D" } });
      return delivered.size === 200;
    });
    expect(overlapping).toEqual([]);
    expect(receiver.received.length).toBeGreaterThan(220);
    const sequences = Map.groupBy(delivered.values(), ({ resource }) => resource);
    expect(sequences.size).toBe(100);
    for (const events of sequences.values())
      expect(events.map(({ sequence }) => sequence).toSorted()).toEqual([1, 2]);
    expect(receiver.received.flatMap(({ event }) => findEventErrors(event))).toEqual([]);
  });

  test("a server that stops releases unfinished deliveries, and the other one sends them at once", async () => {
    await using replicas = await createDeployment();
    const firstServer = await replicas.start({ webhooks: { drainMs: 200 } });
    await using receiver = await startReceiver((...args) => {
      if (args[2] > 0) accept(...args); // the first one never gets a response
    });
    const acme = await createSubscriber(firstServer);
    await acme.subscribe(receiver.url);
    await acme.refund();
    await receiver.first(1);
    const secondServer = await replicas.start();

    await firstServer.close();

    const [first, second] = await receiver.first(2);
    expect(second?.webhookId).toBe(first?.webhookId);
    const { db } = secondServer.database;
    const attempts = await until(async () => {
      const rows = await db.selectFrom("delivery_attempts").select(["status", "number"]).execute();
      return rows.length > 0 ? rows : undefined;
    });
    expect(attempts).toEqual([{ status: 204, number: 1 }]);
  });
});
