import { describe, expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { createSubscriber, startRawReceiver, startReceiver, until } from "../../helpers/receiver.ts";
import { startTestServer } from "../../helpers/server.ts";

const MERCHANTS = 10;
const SUBSCRIPTIONS = 10;
const TIMEOUT_MS = 60_000;
/** Fewer in progress than if each silent merchant had its maximum. */
const LIMITS = { total: 120, unproven: 60, perMerchant: 32, perSubscription: 8 };

describe.each(engines)("silent receivers on %s", (engine) => {
  test("of many merchants hold up neither a receiver that responds nor one that is new", async () => {
    await using server = await startTestServer({
      engine,
      webhooks: { drainMs: 0, timeoutMs: TIMEOUT_MS, leaseMs: 2 * TIMEOUT_MS, limits: LIMITS },
    });
    await using silent = await startRawReceiver(() => {}); // takes connections, and never responds
    await using healthy = await startReceiver();
    const others = await Promise.all(Array.from({ length: MERCHANTS }, () => createSubscriber(server)));
    for (const other of others) {
      for (let index = 0; index < SUBSCRIPTIONS; index += 1)
        await other.subscribe(`http://127.0.0.1:${silent.port}/${index}`);
    }
    const proven = await createSubscriber(server);
    await proven.subscribe(healthy.url);
    await proven.refund();
    await healthy.first(1);
    await Promise.all(others.map((other) => other.refund()));
    await until(() => silent.connections() >= MERCHANTS);

    const startedAt = performance.now();
    for (let count = 2; count <= 11; count += 1) {
      await proven.refund();
      await healthy.first(count);
    }
    const fresh = await createSubscriber(server);
    await fresh.subscribe(healthy.url);
    await fresh.refund();
    await healthy.first(12);

    // An attempt has a minute: nobody has waited for one to end.
    expect(performance.now() - startedAt).toBeLessThan(TIMEOUT_MS);
    expect(silent.connections()).toBeLessThanOrEqual(LIMITS.unproven);
  });

  test("are probed by one delivery at a time after timeouts, and have all their slots again after a response", async () => {
    await using server = await startTestServer({ engine, webhooks: { timeoutMs: 300 } });
    let responds = false;
    let open = 0;
    /** For each attempt, in their order, how many there were at once. */
    const atOnce: number[] = [];
    await using receiver = await startReceiver((response) => {
      open += 1;
      response.once("close", () => {
        open -= 1;
      });
      // Counted a little later, because the end of an attempt before it may be heard of after its beginning.
      setTimeout(() => atOnce.push(open), 50);
      if (responds) response.writeHead(204).end();
    });
    const acme = await createSubscriber(server);
    await acme.subscribe(receiver.url);
    const { db } = server.database;
    const timeouts = async () =>
      (await db.selectFrom("subscriptions").select("timeouts").executeTakeFirstOrThrow()).timeouts;
    const inProgress = async () => {
      const deliveries = db.selectFrom("deliveries").where("leased_until", "is not", null);
      return (await deliveries.select("webhook_id").execute()).length;
    };
    for (let count = 0; count < 12; count += 1) await acme.refund();
    await until(async () => (await timeouts()) === 3 && (await inProgress()) <= 1);
    const before = receiver.received.length + 1;
    await acme.sandbox("advanceClock", { body: { by: "PT10S" } });
    await until(() => atOnce.length >= before + 3);

    expect(Math.max(...atOnce.slice(before, before + 3))).toBeLessThanOrEqual(1);

    responds = true;

    await until(async () => {
      await acme.sandbox("advanceClock", { body: { by: "P1D" } });
      return (await acme.deliveries()).every(({ state }) => state === "DELIVERED");
    });
    expect(await timeouts()).toBe(0);
  });
});
