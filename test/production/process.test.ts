import { expect, test } from "vitest";
import { post, runServer, spawnServer, startTestServer } from "../helpers/server.ts";
import { givenPayment, refundOf } from "../server/given.ts";
import { head, openConnection } from "../server/raw-http.ts";
import { givenProduction } from "./given.ts";

test("production runs as a process: it prints JSON lines alone, serves its callers, and ends with 0", {
  timeout: 60_000,
}, async () => {
  await using production = await givenProduction();
  const replica = await production.start();
  const paymentId = await givenPayment(replica, { merchant: "merchant" });
  const env = { ...production.env, METRICS_PORT: "0" };
  await using server = await spawnServer({ dataDir: "unused", env, ready: /"msg":"listening"/ });

  const { status } = await post(server.url, "/v1/refunds", refundOf(paymentId), {
    token: await production.issuer.token(),
  });
  server.kill("SIGTERM");
  const exit = await server.exit;

  expect([status, exit.code, exit.stderr]).toEqual([201, 0, ""]);
  const lines = exit.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.map(({ msg }) => msg)).toEqual(["listening", "request"]);
  expect(lines[0].metricsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
});

test("production that lacks a setting ends with 1 and names it", async () => {
  await using production = await givenProduction();
  const { AUTH_JWKS_URL: _, ...env } = production.env;

  expect(await runServer(env)).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr: "AUTH_JWKS_URL is required in production: the address of the issuer's public keys.\n",
  });
});

test("a server that stops waits for callers who send, and cuts off those who have stalled, and is not ready", async () => {
  const server = await startTestServer({ drainMs: 300, headTimeoutMs: 30_000, bodyTimeoutMs: 30_000 });
  using inHead = await openConnection(server.url);
  using inBody = await openConnection(server.url);
  using sending = await openConnection(server.url);
  const body = JSON.stringify(refundOf("pay_settled"));
  const bodyHead = head("/v1/refunds", { "Content-Length": body.length, Expect: "100-continue" });
  for (const connection of [inBody, sending]) {
    connection.send(bodyHead);
    expect((await connection.answer()).status).toBe(100);
  }
  inHead.send("POST /v1/refunds HTTP/1.1\r\nHost: localhost\r\n");

  const startedMs = performance.now();
  const closing = server.close();
  sending.send(body + head("GET /readyz"));
  const answer = await sending.answer();
  const ready = await sending.answer();
  await closing;

  expect([answer.status, ready.status]).toEqual([201, 503]);
  await Promise.all([inHead.closed, inBody.closed]);
  const milliseconds = performance.now() - startedMs;
  expect(milliseconds).toBeGreaterThan(290);
  expect(milliseconds).toBeLessThan(20_000); // and not the half minute that these callers have
});
