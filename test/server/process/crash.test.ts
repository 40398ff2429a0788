import { describe, expect, test } from "vitest";
import { createDataDir } from "../../helpers/databases.ts";
import { dollars, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import type { ServerProcess } from "../../helpers/process.ts";
import { accept, startReceiver } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { post, spawnServer, startTestServer, type TestServer } from "../../helpers/server.ts";
import { until } from "../../helpers/subscriber.ts";

const subscribe = (server: ServerProcess, url: string) =>
  post(server.url, "/v1/webhook/subscribe", subscriptionTo(url));
const refund = (server: ServerProcess) =>
  post(server.url, "/v1/refunds", refundOf("pay_settled", { amount: dollars(0.01) }));

/** All deliveries of the server's merchant as soon as all of them have been delivered. */
function untilDelivered(server: TestServer) {
  return until(async () => {
    const { items } = (await sandboxOf(server)("listDeliveries", { query: { limit: 100 } })).body;
    return items.length > 0 && items.every(({ state }) => state === "DELIVERED") ? items : undefined;
  });
}

/** A delivery is leased for so long; the embedded store's next server does not wait for that. */
const LEASE_MS = 30_000;

test("a server that is killed while it sends: the event arrives again at once, with the same webhook-id and bytes", {
  timeout: LEASE_MS,
}, async () => {
  await using folder = await createDataDir();
  await using first = await spawnServer(folder);
  await using receiver = await startReceiver((response, delivery, count) => {
    if (count === 0)
      first.kill("SIGKILL"); // and never responds
    else accept(response, delivery, count);
  });
  await subscribe(first, receiver.url);
  await refund(first);
  await first.exit;

  await using second = await startTestServer(folder);
  const [delivery] = await untilDelivered(second);

  const [one, other] = await receiver.first(2);
  expect([other?.webhookId, other?.body]).toEqual([one?.webhookId, one?.body]);
  expect(delivery).toMatchObject({ webhookId: one?.webhookId, attempts: [{ status: 204 }] });
});

describe("a server that is stopped by SIGTERM", () => {
  test("waits for the response under way, records it, and exits 0", async () => {
    await using folder = await createDataDir();
    let release: () => void = () => {};
    await using receiver = await startReceiver((response, delivery, count) => {
      release = () => accept(response, delivery, count);
    });
    await using first = await spawnServer(folder);
    await subscribe(first, receiver.url);
    await refund(first);
    await receiver.first(1);

    first.kill("SIGTERM");
    await until(() =>
      fetch(`${first.url}/healthz`).then(
        () => undefined,
        () => true,
      ),
    );
    release();

    expect(await first.exit).toMatchObject({ code: 0, signal: null });
    await using second = await startTestServer(folder);
    const [delivery] = await untilDelivered(second);
    expect(delivery?.attempts.length).toBe(1);
    expect(receiver.received.length).toBe(1);
  });
});

test("a proxy that the environment names gets no delivery to see", async () => {
  await using proxy = await startReceiver();
  await using receiver = await startReceiver();
  const { origin } = new URL(proxy.url);
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
  const env = Object.fromEntries(names.map((name) => [name, origin]));
  await using server = await spawnServer({ env: { ...env, NODE_USE_ENV_PROXY: "1" } });
  await subscribe(server, receiver.url);

  await refund(server);

  await receiver.first(1);
  expect(proxy.received).toEqual([]);
});
