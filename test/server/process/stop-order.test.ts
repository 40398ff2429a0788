import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { createPayment, refundOf } from "../../helpers/factories.ts";
import { post, startTestServer } from "../../helpers/server.ts";

const headers = { Authorization: "Bearer sandbox_acme", Accept: "text/event-stream" };

test("a stop ends the open streams before it waits for requests, which would wait for these streams", async () => {
  const server = await startTestServer({ drainMs: 1_000 });
  const stream = await fetch(`${server.url}/sandbox/changes`, { headers });

  await server.close();

  // A connection that is cut rejects.
  expect(await stream.text()).toContain("topics");
});

test("a stop closes the database after the requests that use it", async () => {
  const server = await startTestServer({ engine: "postgres" });
  const paymentId = await createPayment(server);
  let unlock = () => {};
  const locked = new Promise<void>((resolve) => {
    void server.database.db.transaction().execute(async (transaction) => {
      await transaction
        .selectFrom("payments")
        .select("payment_id")
        .where("payment_id", "=", paymentId)
        .forUpdate()
        .execute();
      resolve();
      await new Promise<void>((release) => (unlock = release));
    });
  });
  await locked;
  const refunded = post(server.url, "/v1/refunds", refundOf(paymentId));
  while ((server.database.poolUsage()?.inUse ?? 0) < 2) await setImmediate();

  const closing = server.close();
  unlock();

  expect((await refunded).status).toBe(201);
  await closing;
});
