import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { engines } from "../../helpers/engine.ts";
import { refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { startReceiver } from "../../helpers/receiver.ts";
import { createRandom, roundsOf } from "./setup/figures.ts";
import { createLastingStore } from "./setup/lasting-store.ts";
import { send } from "./setup/load.ts";
import { repeatUnknown } from "./setup/losses.ts";
import { startTrial } from "./setup/trial.ts";

const LOAD_MS = 800;
/** How long a stop waits for stalled callers. A stop that takes less time had none to wait for, so it would prove nothing. */
const STALL_MS = 6_500;
const EXIT_LIMIT_MS = 10_000;
/** Requests for a response of many kilobytes: together more than all buffers on the way can contain. */
const UNREAD_RESPONSES = 300;

/**
 * Callers that have begun a request, and neither continue nor disconnect. Resolves when the server has noticed all of them.
 */
async function stall(url: string, token: string): Promise<Disposable> {
  const [inHead, inBody] = [await openConnection(url), await openConnection(url)];
  inHead.send("POST /v1/refunds HTTP/1.1\r\nHost: localhost\r\n");
  const Authorization = `Bearer ${token}`;
  inBody.send(head("/v1/refunds", { Authorization, "Content-Length": 100, Expect: "100-continue" }));
  expect(await inBody.response()).toMatchObject({ status: 100 });
  inBody.send('{"paymentId":');

  const { hostname, port } = new URL(url);
  const reader = connect(Number(port), hostname);
  await once(reader, "connect");
  reader.on("error", () => {}).write(head("GET /openapi.json").repeat(UNREAD_RESPONSES));
  // The responses are not read: the socket's own buffer fills up, and then those of the system on both sides.
  await once(reader, "readable");
  return {
    [Symbol.dispose]() {
      for (const connection of [inHead, inBody]) connection[Symbol.dispose]();
      reader.destroy();
    },
  };
}

test.each(engines)(
  "SIGTERM under load, with stalled callers and a silent receiver: accepted requests get their responses, and it exits 0 in time (%s)",
  async (engine) => {
    const rounds = roundsOf(0.06);
    const random = createRandom(`stalled ${engine}`);
    const counted = { "done without a response": 0, "ms at most to exit": 0 };
    const { start } = await createLastingStore(engine);
    const trial = await startTrial(`SIGTERM, stalled callers, ${engine}`, start, { counted });
    const { ledger } = trial;
    await using silent = await startReceiver(() => {});
    await send(trial.server.url, "/v1/webhook/subscribe", subscriptionTo(silent.url));
    await send(trial.server.url, "/v1/refunds", refundOf("pay_settled"));
    await silent.first(1);

    await trial.repeat(rounds, async () => {
      await trial.underLoad(async () => {
        using _ = await stall(trial.server.url, ledger.token);
        await setTimeout(random() * LOAD_MS);
        const stoppedAtMs = performance.now();
        expect(await trial.server.stop()).toMatchObject({ code: 0, signal: null });
        const exitMs = Math.round(performance.now() - stoppedAtMs);
        counted["ms at most to exit"] = Math.max(counted["ms at most to exit"], exitMs);
      });
      await trial.replaceServer();
      counted["done without a response"] += await repeatUnknown(trial.server, ledger);
    });

    const subscribed = ledger.subscriptions.size;
    await trial.conclude();
    expect(counted["done without a response"]).toBe(0);
    expect(ledger.acknowledged.size).toBeGreaterThan(rounds);
    expect(subscribed).toBeGreaterThan(0);
    expect(counted["ms at most to exit"]).toBeGreaterThan(STALL_MS);
    expect(counted["ms at most to exit"]).toBeLessThan(EXIT_LIMIT_MS);
  },
);
