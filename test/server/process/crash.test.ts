import { describe, expect, test } from "vitest";
import { createDataDir } from "../../helpers/databases.ts";
import { dollars, type Refund, refundOf, subscriptionTo } from "../../helpers/factories.ts";
import type { ServerProcess } from "../../helpers/process.ts";
import { accept, type Received, startReceiver, until } from "../../helpers/receiver.ts";
import { sandboxOf } from "../../helpers/sandbox.ts";
import { post, spawnServer, startTestServer, type TestServer } from "../../helpers/server.ts";

/** How many deliveries of one subscription are under way at once. */
const AT_ONCE = 4;

const subscribe = (server: ServerProcess, url: string) =>
  post(server.url, "/v1/webhook/subscribe", subscriptionTo(url));
const refund = (server: ServerProcess) =>
  post<Refund>(server.url, "/v1/refunds", refundOf("pay_settled", { amount: dollars(0.01) }));
const resourceOf = ({ event }: Received) => event.data.paymentId;

/** All deliveries of the server's merchant as soon as all of them have been delivered. */
function untilDelivered(server: TestServer) {
  return until(async () => {
    const { items } = (await sandboxOf(server)("listDeliveries", { query: { limit: 100 } })).body;
    return items.length > 0 && items.every(({ state }) => state === "DELIVERED") ? items : undefined;
  });
}

describe("a server that is killed", () => {
  test("before it has sent acknowledged events: the next server sends each of them", async () => {
    await using folder = await createDataDir();
    let responding = false;
    await using receiver = await startReceiver((...args) => {
      if (responding) accept(...args);
    });
    await using first = await spawnServer(folder);
    await subscribe(first, receiver.url);
    const refunds = await Promise.all(Array.from({ length: 40 }, () => refund(first)));
    // A receiver that has not responded to these gets no more, so most events are stored but not sent.
    await receiver.first(AT_ONCE);

    await first.stop("SIGKILL");
    const sentBefore = receiver.received.length;
    responding = true;

    await using second = await startTestServer(folder);
    const deliveries = await untilDelivered(second);
    expect(sentBefore).toBe(AT_ONCE);
    expect(new Set(receiver.received.map(resourceOf))).toEqual(
      new Set(refunds.map(({ body }) => body.paymentId)),
    );
    expect(new Set(receiver.received.map(({ webhookId }) => webhookId))).toEqual(
      new Set(deliveries.map(({ webhookId }) => webhookId)),
    );
  });

  test("while it sends: the event arrives again, with the same webhook-id and bytes", async () => {
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
});
