import { describe, expect, test } from "vitest";
import type { DeliveryState } from "../../../server/domain/delivery-outcome.ts";
import { RETRY_STEPS_MS } from "../../../server/domain/retry-schedule.ts";
import { accept, type Responder, respondWith, startReceiver } from "../../helpers/receiver.ts";
import { useTestServer } from "../../helpers/server.ts";
import { createSubscriber, type Subscriber } from "../../helpers/subscriber.ts";

/** The random part of each step, as a fraction of the 20 % that are allowed. */
const CHANCE = 0.5;

/** Time stands still, because a busy machine could otherwise reach what is not due yet. */
const NOW = new Date();

const server = useTestServer({ realNow: () => NOW, webhooks: { random: () => CHANCE } });

/** Responds to the first `count` deliveries in one way, and to all others in another. */
function respondFirst(count: number, first: Responder, then: Responder = accept): Responder {
  return (response, delivery, before) => (before < count ? first : then)(response, delivery, before);
}

async function domainNow({ sandbox }: Subscriber): Promise<number> {
  return Date.parse((await sandbox("getClock")).body.now);
}

/** How long after now the next attempt of the only delivery is due, in milliseconds. */
async function dueIn(acme: Subscriber): Promise<number> {
  const [delivery] = await acme.deliveries();
  return Date.parse(delivery?.dueAt ?? "") - (await domainNow(acme));
}

describe("a delivery that fails", () => {
  /** @decision D23 D30 */
  test("is tried ten times by the schedule, from the end of each attempt, and then once more on request", async () => {
    await using receiver = await startReceiver(respondFirst(10, respondWith(500)));
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    await acme.refund();

    for (const [index, step] of RETRY_STEPS_MS.entries()) {
      const { dueAt, attempts } = await acme.delivery("PENDING", index + 1);
      const wait = await dueIn(acme);
      expect(attempts.at(-1)).toMatchObject({ status: 500, error: "responded 500" });
      expect(wait).toBeLessThanOrEqual(step * 1.1);
      expect(wait).toBeGreaterThan(step * 1.1 - 10_000);

      // Not a second earlier: the call returns when everything due has been claimed, and this delivery has not been.
      const early = new Date(Date.parse(dueAt ?? "") - 1_000).toISOString();
      if (wait > 4_000) await acme.sandbox("advanceClock", { body: { to: early } });
      expect((await acme.deliveries())[0]).toMatchObject({ dueAt, attempts });
      await acme.sandbox("advanceClock", { body: { by: "PT1S" } });
    }
    const exhausted = await acme.delivery("EXHAUSTED", 10);
    expect(exhausted.dueAt).toBe(null);
    await acme.sandbox("advanceClock", { body: { by: "P30D" } });
    expect(await acme.delivery("EXHAUSTED", 10)).toEqual(exhausted);

    await acme.redeliver(exhausted.webhookId);

    const delivered = await acme.delivery("DELIVERED", 11);
    expect(delivered.attempts.map(({ status }) => status)).toEqual([...Array(10).fill(500), 204]);
    expect(new Set(receiver.received.map(({ webhookId }) => webhookId))).toEqual(
      new Set([delivered.webhookId]),
    );
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  /** @decision D23 */
  test.each([
    ["soon", 5_500],
    ["8", 8_000],
    ["1000000000", 10_000],
  ])("with Retry-After %s is tried again in %d ms", async (retryAfter, expected) => {
    await using receiver = await startReceiver(respondWith(429, { "retry-after": retryAfter }));
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    const before = await domainNow(acme);
    await acme.refund();

    const { dueAt } = await acme.delivery("PENDING", 1);

    const wait = Date.parse(dueAt ?? "") - before;
    expect(wait).toBeGreaterThanOrEqual(expected);
    expect(wait).toBeLessThanOrEqual(expected + (await domainNow(acme)) - before);
  });

  /** @decision D21 D22 D30 */
  test("is signed anew on each attempt, at real time, over the same bytes", async () => {
    await using receiver = await startReceiver(respondFirst(1, respondWith(503)));
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    await acme.sandbox("advanceClock", { body: { by: "P2D" } });
    await acme.refund();
    await acme.delivery("PENDING", 1);

    await acme.sandbox("advanceClock", { body: { by: "PT10S" } });

    const received = await receiver.first(2);
    for (const { headers } of received) {
      expect(Math.abs(Number(headers["webhook-timestamp"]) * 1_000 - NOW.getTime())).toBeLessThan(60_000);
    }
    expect(received[0]?.body).toBe(received[1]?.body);
  });
});

describe("a receiver that responds with 410", () => {
  /** @decision D23 D26 */
  test("ends the subscription and all that waits for it, and nothing else", async () => {
    let status = 500;
    await using receiver = await startReceiver((response) => void response.writeHead(status).end());
    const acme = await createSubscriber(server);
    const key = await acme.subscribe(receiver.url);
    await acme.refund();
    await acme.delivery("PENDING", 1);
    await acme.sandbox("advanceClock", { body: { by: "PT6S" } });
    await acme.delivery("PENDING", 2);
    await acme.sandbox("advanceClock", { body: { by: "PT10M" } });
    const waiting = await acme.delivery("PENDING", 3); // it is due in half an hour, too late to end by itself
    status = 410;

    await acme.refund();

    const [latest] = await acme.deliveries();
    await receiver.first(4);
    const ended = await acme.delivery("ENDED", 1);
    expect(ended.attempts[0]).toMatchObject({
      status: 410,
      error: "responded 410, which ends the subscription",
    });
    const states = async () => (await acme.deliveries()).map(({ state, dueAt }) => [state, dueAt]);
    await expect.poll(states).toEqual([
      ["ENDED", null],
      ["ENDED", null],
    ]);
    expect(latest?.webhookId).not.toBe(waiting.webhookId);
    const repeated = await acme.sandbox("endSubscription", { path: { subscriptionKey: key } });
    expect(repeated.status).toBe(404);
    await acme.refund();
    expect((await acme.deliveries()).length).toBe(2);

    // The secret is gone with the subscription.
    const refused = await acme.sandbox("redeliver", { path: { webhookId: waiting.webhookId } });
    expect(refused.status).toBe(404);
  });
});

describe("POST /sandbox/deliveries/{webhookId}/redeliver", () => {
  test("sends one that waits for its next attempt at once, and the schedule goes on", async () => {
    await using receiver = await startReceiver(respondWith(500));
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    await acme.refund();
    await acme.delivery("PENDING", 1);
    await acme.sandbox("advanceClock", { body: { by: "PT6S" } });
    const { webhookId } = await acme.delivery("PENDING", 2);
    expect(await dueIn(acme)).toBeGreaterThan(60_000);

    await acme.redeliver(webhookId);

    await acme.delivery("PENDING", 3);
    const [, , thirdStep] = RETRY_STEPS_MS;
    expect(await dueIn(acme)).toBeGreaterThan(thirdStep);
    expect(await dueIn(acme)).toBeLessThanOrEqual(thirdStep * 1.1);
  });

  /** @decision D23 */
  test.each<[name: string, first: Responder, state: DeliveryState, attempts: number]>([
    ["that was delivered", accept, "EXHAUSTED", 1],
    ["whose attempts are exhausted", respondWith(500), "EXHAUSTED", 10],
  ])("sends one %s once, and makes no further attempt", async (_, first, state, attempts) => {
    await using receiver = await startReceiver(respondFirst(attempts, first, respondWith(500)));
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    await acme.refund();
    for (let made = 1; made < attempts; made += 1) {
      const { dueAt } = await acme.delivery("PENDING", made);
      await acme.sandbox("advanceClock", { body: { to: dueAt } });
    }
    await receiver.first(attempts);
    await expect.poll(async () => (await acme.deliveries())[0]?.state).not.toBe("PENDING");
    const [{ webhookId = "" } = {}] = await acme.deliveries();

    await acme.redeliver(webhookId);

    const after = await acme.delivery(state, attempts + 1);
    expect([after.attempts.at(-1)?.status, after.dueAt]).toEqual([500, null]);
    await acme.sandbox("advanceClock", { body: { by: "P30D" } });
    expect(await acme.delivery(state, attempts + 1)).toEqual(after);
  });

  test("sends one whose attempt is under way once more after it", async () => {
    const responders: (() => void)[] = [];
    await using receiver = await startReceiver((response) => {
      responders.push(() => response.writeHead(204).end());
    });
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    await acme.refund();
    const [first] = await receiver.first(1);

    await acme.redeliver(first?.webhookId ?? "");
    expect(receiver.received.length).toBe(1);
    responders[0]?.();

    await receiver.first(2);
    responders[1]?.();
    await acme.delivery("DELIVERED", 2);
  });

  test("knows no delivery of another merchant", async () => {
    await using receiver = await startReceiver();
    const [acme, other] = [await createSubscriber(server), await createSubscriber(server)];
    await acme.subscribe(receiver.url);
    await acme.refund();
    const { webhookId } = await acme.delivery("DELIVERED", 1);

    expect(await other.sandbox("redeliver", { path: { webhookId } })).toMatchObject({ status: 404 });
    expect(await acme.delivery("DELIVERED", 1)).toMatchObject({ webhookId });
  });
});
