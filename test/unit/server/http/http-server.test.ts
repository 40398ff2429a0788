import { once } from "node:events";
import { connect } from "node:net";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createHttpServer } from "../../../../server/http/http-server.ts";
import { startSideServer } from "../../../../server/observability/second-port.ts";

const MAX_CONNECTIONS = 2;
/** How many are refused at a time. */
const MAX_REFUSED = 100;

const create = (maxConnections: number) =>
  createHttpServer({
    host: "127.0.0.1",
    port: 0,
    headTimeoutMs: 20_000,
    drainMs: 0,
    maxConnections,
    stopDelaySeconds: 0,
    logger: pino({ level: "silent" }),
  });

/** The status line of the response to what is sent; nothing when the connection was closed without one. */
async function open(url: string, sent: string) {
  const socket = connect({ port: Number(new URL(url).port), allowHalfOpen: true });
  socket.write(sent);
  const received = await new Promise<string>((resolve) => {
    socket.once("data", (bytes) => resolve(String(bytes)));
    for (const event of ["end", "close"]) socket.once(event, () => resolve(""));
    socket.on("error", () => {});
  });
  return received.split("\r\n")[0];
}

test("excess connections get 503 without being read, and those in excess of these are closed", async () => {
  const server = create(MAX_CONNECTIONS);
  await server.start((_request, response) => response.end("served"));
  const openAll = (count: number, sent: string) =>
    Promise.all(Array.from({ length: count }, () => open(server.url(), sent)));

  const served = await openAll(MAX_CONNECTIONS, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const others = await openAll(MAX_REFUSED + 1, "");

  expect(served).toEqual(Array(MAX_CONNECTIONS).fill("HTTP/1.1 200 OK"));
  expect(others.sort()).toEqual(["", ...Array(MAX_REFUSED).fill("HTTP/1.1 503 Unavailable")]);
  await server.stop();
});

test("of connections that begin long heads and don't end them, the oldest are closed, not a caller whose head comes in two parts", async () => {
  const server = create(2_000);
  await server.start((_request, response) => response.end("served"));
  const long = `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(1_000)}`;
  let closed = 0;
  const heads = Array.from({ length: 1_001 }, () => open(server.url(), long).then(() => (closed += 1)));
  await Promise.any(heads); // now a thousand are open

  const caller = connect(Number(new URL(server.url()).port));
  caller.write(long);
  await expect.poll(() => closed).toBe(2);
  caller.write("\r\n\r\n");

  expect(String(await once(caller, "data"))).toContain("HTTP/1.1 200 OK");
  caller.destroy();
  await server.stop();
});

test("a connection for probes or metrics is closed when it sends a request before its response", async () => {
  const server = await startSideServer(() => {}, { host: "127.0.0.1", port: 0 });

  expect(await open(server.url ?? "", "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2))).toBe("");
  await server.stop();
});
