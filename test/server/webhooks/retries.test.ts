import { describe, expect, test } from "vitest";
import { RETRY_STEPS_MS } from "../../../server/domain/retry-schedule.ts";
import {
  accept,
  createSubscriber,
  type Responder,
  respondWith,
  type Subscriber,
  startReceiver,
} from "../../helpers/receiver.ts";
import { useTestServer } from "../../helpers/server.ts";

/** The random part of each step, as a fraction of the 20 % that are allowed. */
const CHANCE = 0.5;

const ATTEMPTS = RETRY_STEPS_MS.length + 1;

/** Time stands still, because a busy machine could otherwise reach what is not due yet. */
const NOW = new Date();

const server = useTestServer({ realNow: () => NOW, webhooks: { random: () => CHANCE } });

/** A merchant with one delivery, to a receiver that responds like this. */
async function startDelivery(respond: Responder) {
  const receiver = await startReceiver(respond);
  const acme = await createSubscriber(server);
  const subscriptionKey = await acme.subscribe(receiver.url);
  await acme.refund();
  const advance = (by: string) => acme.sandbox("advanceClock", { body: { by } });
  return { receiver, acme, subscriptionKey, advance, [Symbol.asyncDispose]: receiver.close };
}

async function domainNow({ sandbox }: Subscriber): Promise<number> {
  return Date.parse((await sandbox("getClock")).body.now);
}

/** A duration that is longer than a wait of the schedule. */
const pastStep = (index: number) => `PT${(RETRY_STEPS_MS[index] ?? 0) / 500}S`;

/** How long after now the next attempt of the only delivery is due, in milliseconds. */
async function dueIn(acme: Subscriber): Promise<number> {
  const [delivery] = await acme.deliveries();
  return Date.parse(delivery?.dueAt ?? "") - (await domainNow(acme));
}

describe("a delivery that fails", () => {
  test("is tried as often as the schedule says, from the end of each attempt, and then once more on request", async () => {
    await using started = await startDelivery((...args) =>
      (args[2] < ATTEMPTS ? respondWith(500) : accept)(...args),
    );
    const { receiver, acme, advance } = started;

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
      await advance("PT1S");
    }
    const exhausted = await acme.delivery("EXHAUSTED", ATTEMPTS);
    expect(exhausted.dueAt).toBe(null);
    await advance("P30D");
    expect(await acme.delivery("EXHAUSTED", ATTEMPTS)).toEqual(exhausted);

    await acme.redeliver(exhausted.webhookId);

    const delivered = await acme.delivery("DELIVERED", ATTEMPTS + 1);
    expect(delivered.attempts.map(({ status }) => status)).toEqual([...Array(ATTEMPTS).fill(500), 204]);
    // The same bytes each time, signed at real time.
    const sent = receiver.received.map(({ webhookId, headers, body }) =>
      [webhookId, headers["webhook-timestamp"], body].join(),
    );
    const at = Math.floor(NOW.getTime() / 1_000);
    const [first] = receiver.received;
    expect(new Set(sent)).toEqual(new Set([[delivered.webhookId, at, first?.body].join()]));
  });

  test("is tried again no earlier than Retry-After says", async () => {
    const seconds = Math.ceil((RETRY_STEPS_MS[0] * 1.6) / 1_000); // at most twice the step
    await using started = await startDelivery(respondWith(429, { "retry-after": `${seconds}` }));
    const { acme } = started;

    await acme.delivery("PENDING", 1);

    expect(await dueIn(acme)).toBe(seconds * 1_000);
  });
});

test("a receiver that responds with 410 ends the subscription and all that waits for it, and nothing else", async () => {
  let status = 500;
  await using started = await startDelivery((response) => void response.writeHead(status).end());
  const { receiver, acme, subscriptionKey, advance } = started;
  await acme.delivery("PENDING", 1);
  await advance(pastStep(0));
  await acme.delivery("PENDING", 2);
  await advance(pastStep(1));
  const { webhookId } = await acme.delivery("PENDING", 3); // it is due in half an hour, too late to end by itself
  status = 410;

  await acme.refund();

  await receiver.first(4);
  const ended = await acme.delivery("ENDED", 1);
  const error = "responded 410, which ends the subscription";
  expect(ended.attempts[0]).toMatchObject({ status: 410, error });
  const states = async () => (await acme.deliveries()).map(({ state, dueAt }) => [state, dueAt]);
  await expect.poll(states).toEqual([
    ["ENDED", null],
    ["ENDED", null],
  ]);
  expect((await acme.sandbox("endSubscription", { path: { subscriptionKey } })).status).toBe(404);
  await acme.refund();
  expect((await acme.deliveries()).length).toBe(2);
  // The secret is gone with the subscription.
  expect((await acme.sandbox("redeliver", { path: { webhookId } })).status).toBe(404);
});

describe("POST /sandbox/deliveries/{webhookId}/redeliver", () => {
  test("sends one that waits for its next attempt at once, and the schedule goes on", async () => {
    await using started = await startDelivery(respondWith(500));
    const { acme, advance } = started;
    await acme.delivery("PENDING", 1);
    await advance(pastStep(0));
    const { webhookId } = await acme.delivery("PENDING", 2);
    expect(await dueIn(acme)).toBeGreaterThan(60_000);

    await acme.redeliver(webhookId);

    await acme.delivery("PENDING", 3);
    const [, , thirdStep] = RETRY_STEPS_MS;
    expect(await dueIn(acme)).toBeGreaterThan(thirdStep);
    expect(await dueIn(acme)).toBeLessThanOrEqual(thirdStep * 1.1);
  });
});
