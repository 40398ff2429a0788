import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { createRandom, roundsOf } from "./setup/figures.ts";
import { createCrashableStore } from "./setup/lasting-store.ts";
import { send } from "./setup/load.ts";
import { startTrial, statusOf, untilReady } from "./setup/trial.ts";

const LOAD_MS = 800;
const OUTAGE_MS = 1_500;
/** Longer than any time limit of a call. */
const SILENCE_MS = 15_000;
const RESPONSE_LIMIT_MS = 10_000;
const EXIT_LIMIT_MS = 10_000;
/** Subscribed to events that never happen, because only the response matters. */
const subscriptionDetails = { type: "EVENT", details: ["account.linked"] };
const persistent = true;

test("PostgreSQL killed and restarted under load: the server goes on, and nothing acknowledged is lost", async () => {
  const random = createRandom("database");
  const { start, postgres } = await createCrashableStore();
  const trial = await startTrial("PostgreSQL killed", start);
  const { server } = trial;

  await trial.repeat(roundsOf(0.2), async (round) => {
    const outage = async () => {
      await setTimeout(random() * LOAD_MS);
      await postgres.crash(round % 2 === 1 ? "SIGKILL" : "SIGQUIT");
      await setTimeout(random() * OUTAGE_MS);
      expect([await statusOf(server), await statusOf(server, "/healthz")]).toEqual([503, 200]);
      await postgres.restart();
      await untilReady(server);
      await setTimeout(random() * LOAD_MS);
    };
    await trial.underLoad(outage, { persistent });
    await trial.recover();
  });

  await trial.conclude();
});

test("PostgreSQL stopped under load without closing anything: requests get responses in time, it goes on, and SIGTERM ends it with 0", async () => {
  const random = createRandom("suspended");
  const { start, postgres } = await createCrashableStore();
  const counted = { "responses meanwhile": 0, "ms at most": 0, "ms to exit": 0 };
  const trial = await startTrial("PostgreSQL stopped", start, { counted });
  const { server, ledger } = trial;
  const refund = () => {
    const request = refundOf(ledger.paymentId, { amount: dollars(0.01) });
    ledger.unknown.set(request.requestKey, request);
    return send(server.url, "/v1/refunds", request);
  };
  const subscription = subscriptionTo("http://127.0.0.1:9/", { subscriptionDetails });
  /** Further calls in addition to the load, while all connections of the server are in use or wait in vain. */
  const callInVain = async () => {
    const subscribing = send(server.url, "/v1/webhook/subscribe", subscription);
    const responses = await Promise.all([...Array.from({ length: 30 }, refund), subscribing]);
    expect(responses.map((response) => response?.status)).toEqual(responses.map(() => 503));
    counted["responses meanwhile"] += responses.length;
  };

  await trial.repeat(roundsOf(0.1), async () => {
    const outage = async () => {
      await setTimeout(random() * LOAD_MS);
      postgres.suspend();
      const silence = setTimeout(random() * SILENCE_MS);
      for (let calls = 0; calls < 2; calls += 1) {
        const startedAt = performance.now();
        await callInVain();
        counted["ms at most"] = Math.max(counted["ms at most"], Math.round(performance.now() - startedAt));
      }
      expect([await statusOf(server), await statusOf(server, "/healthz")]).toEqual([503, 200]);
      await silence;
      postgres.resume();
      await untilReady(server);
      await setTimeout(random() * LOAD_MS);
    };
    await trial.underLoad(outage, { persistent });
    await trial.recover();
  });
  postgres.suspend();
  const calling = callInVain();
  await setTimeout(LOAD_MS);
  const stoppedAtMs = performance.now();
  expect(await server.stop("SIGTERM")).toMatchObject({ code: 0, signal: null });
  counted["ms to exit"] = Math.round(performance.now() - stoppedAtMs);
  await calling;
  postgres.resume();
  await trial.replaceServer();
  await trial.recover();

  await trial.conclude();
  expect(counted["ms at most"]).toBeLessThan(RESPONSE_LIMIT_MS);
  expect(counted["ms to exit"]).toBeLessThan(EXIT_LIMIT_MS);
});
