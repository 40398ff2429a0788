import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listenWidely } from "../../../../server/http/listen.ts";

const host = "127.0.0.1";
let server = createServer();
let others: Awaited<ReturnType<typeof listenWidely>> = [];
let port = 0;
beforeEach(async () => {
  server = createServer((_request, response) => response.end("served"));
  others = await listenWidely(server, { host, port: 0 });
  port = (server.address() as AddressInfo).port;
});
afterEach(async () => {
  const closed = [server, ...others].map((one) => new Promise((resolve) => one.close(resolve)));
  server.closeAllConnections();
  await Promise.all(closed);
});

test("a crowd of new connections is accepted in a few iterations of the event loop", async () => {
  const CROWD = 200;
  let accepted = 0;
  server.on("connection", () => (accepted += 1));
  const crowd = Array.from({ length: CROWD }, () => connect({ host, port }));
  await Promise.all(crowd.map((socket) => once(socket, "connect")));

  let iterations = 0;
  for (; accepted < CROWD; iterations += 1) await setImmediate();

  expect(iterations).toBeLessThan(CROWD / 4);
});

test("a request on any of its connections is served", async () => {
  const texts = Array.from({ length: 100 }, async () => {
    const [response] = await once(request({ host, port, agent: false }).end(), "response");
    return text(response);
  });

  expect(new Set(await Promise.all(texts))).toEqual(new Set(["served"]));
});

test("a port that another server listens on is not shared with it", async () => {
  await expect(listenWidely(createServer(), { host, port })).rejects.toThrow("EADDRINUSE");
});
