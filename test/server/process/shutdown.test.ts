import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { refundOf } from "../../helpers/factories.ts";
import { exchange, head, openConnection } from "../../helpers/network/raw-http.ts";
import { post, spawnServer, startTestServer } from "../../helpers/server.ts";

/** So long a request that is being sent has, also on a busy machine. */
const DRAIN_MS = 2_000;

test("a server that gets SIGTERM is not ready, and serves new connections for STOP_DELAY", async () => {
  await using server = await spawnServer({ env: { STOP_DELAY: "4" } });

  server.kill("SIGTERM");
  await expect.poll(async () => (await exchange(server.url, head("GET /readyz"))).status).toBe(503);
  const { status } = await post(server.url, "/v1/refunds", refundOf("pay_settled"));
  const { code } = await server.exit;

  expect([status, code]).toEqual([201, 0]);
});

test("a stopping server waits for requests that are being sent, cuts off stalled ones, and is not ready", async () => {
  const server = await startTestServer({ drainMs: DRAIN_MS, headTimeoutMs: 30_000, bodyTimeoutMs: 30_000 });
  using inHead = await openConnection(server.url);
  using inBody = await openConnection(server.url);
  using sending = await openConnection(server.url);
  const body = JSON.stringify(refundOf("pay_settled"));
  const bodyHead = head("/v1/refunds", { "Content-Length": body.length, Expect: "100-continue" });
  for (const connection of [inBody, sending]) {
    connection.send(bodyHead);
    expect((await connection.response()).status).toBe(100);
  }
  inHead.send("POST /v1/refunds HTTP/1.1\r\nHost: localhost\r\n");
  // More responses than all buffers on the way can contain, and nobody reads them.
  const unread = connect(Number(new URL(server.url).port), "127.0.0.1").on("error", () => {});
  unread.write(head("GET /openapi.json").repeat(300));
  await once(unread, "readable");

  const startedMs = performance.now();
  const closing = server.close();
  sending.send(body + head("GET /readyz"));
  const response = await sending.response();
  const ready = await sending.response();
  await closing;

  expect([response.status, ready.status]).toEqual([201, 503]);
  await Promise.all([inHead.closed, inBody.closed]);
  unread.destroy();
  const milliseconds = performance.now() - startedMs;
  expect(milliseconds).toBeGreaterThan(DRAIN_MS - 10);
  expect(milliseconds).toBeLessThan(25_000); // and not half a minute, which is the limit for these callers
});
