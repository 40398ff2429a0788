import { expect, test } from "vitest";
import { type Refund, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import { accept, startReceiver } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { spawnServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";
import { record, reportProgress, roundsOf } from "./setup/figures.ts";
import { createLastingStore } from "./setup/lasting-store.ts";
import { send } from "./setup/load.ts";

const COMMAND = [process.execPath, "test/proofs/faults/setup/short-lease-server.ts"];

test("a worker stopped past its lease, then continued: another has delivered, and it changes nothing", async () => {
  const rounds = roundsOf(0.1);
  await using store = await createLastingStore("postgres");
  const start = () => spawnServer({ env: store.env, command: COMMAND });
  let onFirst: (() => void) | undefined;
  await using receiver = await startReceiver((response, delivery, count) => {
    const stop = onFirst;
    onFirst = undefined;
    stop?.();
    // The results of the paused server when it continues: a failure, or no response.
    if (stop && count % 4 === 0) response.writeHead(500).end();
    else if (!stop) accept(response, delivery, count);
  });
  let worker = await start();
  await send(worker.url, "/v1/webhook/subscribe", subscriptionTo(receiver.url));

  for (let round = 1; round <= rounds; round += 1) {
    const stopped = worker;
    const sent = new Promise<void>((resolve) => {
      onFirst = () => {
        stopped.kill("SIGSTOP");
        resolve();
      };
    });
    const issued = send<Refund>(stopped.url, "/v1/refunds", refundOf("pay_settled"));
    await sent;
    worker = await start();
    const newest = async () => (await sandboxOf(worker)("listDeliveries")).body.items[0];
    const delivered = await until(async () => {
      const delivery = await newest();
      return delivery?.state === "DELIVERED" ? delivery : undefined;
    });

    stopped.kill("SIGCONT");
    expect((await issued)?.status).toBe(201);
    stopped.kill("SIGTERM");
    expect(await stopped.exit).toMatchObject({ code: 0 });

    expect(delivered.attempts).toMatchObject([{ status: 204 }]);
    expect(await newest()).toEqual(delivered);
    expect(receiver.received.slice(-2).map(({ webhookId }) => webhookId)).toEqual(
      Array(2).fill(delivered.webhookId),
    );
    reportProgress("worker stopped past its lease", round, rounds, { sent: receiver.received.length });
  }

  const { items } = (await sandboxOf(worker)("listDeliveries", { query: { limit: 100 } })).body;
  const delivered = items.filter(({ state }) => state === "DELIVERED").length;
  record("worker stopped past its lease", { rounds, delivered, lost: rounds - delivered });
  expect(items.length).toBe(rounds);
  expect(delivered).toBe(rounds);
});
