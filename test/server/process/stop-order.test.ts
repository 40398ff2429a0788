import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { lockPayment } from "../../helpers/databases.ts";
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
  const locking = await lockPayment(server.database.db, { merchant: "acme", paymentId });
  const refunded = post(server.url, "/v1/refunds", refundOf(paymentId));
  while ((server.database.poolUsage()?.inUse ?? 0) < 2) await setImmediate();

  const closing = server.close();
  await locking.rollback().execute();

  expect((await refunded).status).toBe(201);
  await closing;
});
