import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { refundOf } from "../../helpers/factories.ts";
import { type Connection, exchange, head, openConnection } from "../../helpers/network/raw-http.ts";
import { spawnServer } from "../../helpers/server.ts";

const DESCRIPTORS = 400;

test("callers who open more connections than the process has descriptors get 503, and others are served", async () => {
  const command = [
    "/bin/sh",
    "-c",
    `ulimit -n ${DESCRIPTORS}; exec "$0" server/sandbox/cli.ts`,
    process.execPath,
  ];
  await using server = await spawnServer({ command });
  using early = await openConnection(server.url);
  const crowd: Connection[] = [];
  for (let count = 0; count < DESCRIPTORS; count += 1) crowd.push(await openConnection(server.url));

  // Those beyond a hundred refusals at a time are closed without a response.
  const ask = () => exchange(server.url, head("GET /readyz")).catch(() => undefined);
  let refused = await ask();
  while (!refused) refused = await ask();
  const body = JSON.stringify(refundOf("pay_settled"));
  early.send(head("/v1/refunds", { "Content-Length": body.length }) + body);
  const served = await early.response();
  for (const connection of crowd) connection[Symbol.dispose]();
  await expect.poll(async () => (await ask())?.status).toBe(200);

  expect([refused.status, refused.headers["retry-after"], served.status]).toEqual([503, "1", 201]);
  expect(refused.body).toMatchObject({ errorDetails: { errorCode: "UNAVAILABLE" } });
});

test("callers who send a thousand requests each and read no response take little memory", async () => {
  await using server = await spawnServer();
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]);
  const before = memory();
  const text = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_850);
  const callers = await Promise.all(Array.from({ length: 300 }, () => openConnection(server.url)));

  for (const caller of callers) caller.send(text);
  await Promise.all(callers.map(({ closed }) => closed));

  expect(memory() / before).toBeLessThan(1.5);
});
