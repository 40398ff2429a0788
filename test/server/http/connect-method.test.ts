import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { refundOf } from "../../helpers/factories.ts";
import { head, openConnection } from "../../helpers/network/raw-http.ts";
import { post, useTestServer } from "../../helpers/server.ts";

describe("a CONNECT, which scanners send,", () => {
  const server = useTestServer();
  const CONNECT = head("CONNECT a:1");
  const serves = async () => (await post(server.url, "/v1/refunds", {})).status === 400;

  test("does not end the server when its caller resets the connection", async () => {
    for (const cut of ["before", "after"]) {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname);
      await once(socket, "connect");
      socket.write(CONNECT);
      if (cut === "after") await once(socket, "data");
      socket.resetAndDestroy();
    }

    expect(await serves()).toBe(true);
  });

  test("behind a refund gets its response after that of the refund", async () => {
    using connection = await openConnection(server.url);
    const body = JSON.stringify(refundOf("pay_recent"));

    connection.send(`${head("/v1/refunds", { "Content-Length": body.length })}${body}${CONNECT}`);

    expect(await connection.response()).toMatchObject({ status: 201 });
    expect(await connection.response()).toMatchObject({ status: 400 });
    await connection.closed;
  });

  test("behind six hundred calls without a token occupies no slot of the concurrency limit", async () => {
    const call = "POST /v1/refunds HTTP/1.1\r\nHost: localhost\r\n\r\n";
    using connection = await openConnection(server.url);

    connection.send(call.repeat(600) + CONNECT);
    await connection.closed;

    expect(await serves()).toBe(true);
  });

  test("is closed although its caller keeps its side open", async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    socket.write(`${CONNECT}x`);
    socket.resume();

    await once(socket, "end");
    // What it writes is reset once the server has closed its half as well.
    const writing = setInterval(() => socket.write("x"), 50);
    await new Promise((resolve) => socket.once("error", resolve));
    clearInterval(writing);
  });
});
