import { describe, expect, test } from "vitest";
import { refundOf } from "../../helpers/factories.ts";
import { exchange, head, openConnection } from "../../helpers/network/raw-http.ts";
import { useTestServer } from "../../helpers/server.ts";

const invalid = { status: 400, errorDetails: { errorCode: "INVALID_REQUEST" } };

describe("a call", () => {
  const server = useTestServer();

  describe("that is not HTTP as it should be", () => {
    test.each([
      ["not HTTP at all", "hello\r\n\r\n"],
      ["a TLS greeting", Buffer.of(0x16, 3, 1, 0, 200, 1, 0, 0, 0)],
      ["an unknown method", head("FETCH /v1/refunds")],
      ["a CONNECT", head("CONNECT localhost:80")],
      ["a negative length", head("/v1/refunds", { "Content-Length": -1 })],
      ["a length and chunks", head("/v1/refunds", { "Content-Length": 2, "Transfer-Encoding": "chunked" })],
      ["a broken chunk", `${head("/v1/refunds", { "Transfer-Encoding": "chunked" })}zz\r\n`],
      ["a NUL in a header", head("/v1/refunds", { "X-Any": "a\0b" })],
      ["headers of 20 KB", head("/v1/refunds", { "X-Any": "y".repeat(20_000) })],
      ["no Host", head("/v1/refunds", { Host: null })],
      ["two Hosts", head("/v1/refunds", { "X-Any": "1\r\nHost: localhost" })],
      ["two Authorizations", head("/v1/refunds", { "X-Any": "1\r\nAuthorization: Bearer sandbox_globex" })],
      ["two Content-Types", head("/v1/refunds", { "X-Any": "1\r\ncontent-type: text/plain" })],
      ["a transfer coding", head("/v1/refunds", { "Transfer-Encoding": "gzip, chunked" })],
      ["chunks twice", head("/v1/refunds", { "Transfer-Encoding": "chunked, chunked" })],
      ["a fragment in its target", `${head("/v1/refunds#a", { "Content-Length": 2 })}{}`],
    ])("gets 400 (%s)", async (_name, bytes) => {
      const { status, body } = await exchange(server.url, bytes);

      expect([status, body]).toMatchObject([400, { ...invalid, violations: [{ pointer: "" }] }]);
    });

    test.each([
      ["an expectation", "/v1/refunds", { Expect: "the-impossible" }],
      ["a target with a host", "http://localhost/v1/refunds", {}],
      ["a query", "/v1/refunds?a=1&a=2&[]=3", {}],
      ["an upgrade", "/v1/refunds", { Connection: "Upgrade", Upgrade: "websocket" }],
    ])("but may be understood, is served (%s)", async (_name, target, headers) => {
      const { body } = await exchange(server.url, head(target, { "Content-Length": 2, ...headers }), "{}");

      expect(body).toMatchObject({ ...invalid, violations: [{ pointer: "/paymentId" }, {}, {}] });
    });
  });

  test("that garbage follows still gets its own response first", async () => {
    using connection = await openConnection(server.url);
    const body = JSON.stringify(refundOf("pay_recent"));

    connection.send(`${head("/v1/refunds", { "Content-Length": body.length })}${body}garbage\r\n\r\n`);

    expect(await connection.response()).toMatchObject({ status: 201, body: { paymentStatus: "PENDING" } });
    expect(await connection.response()).toMatchObject({ status: 400 });
    await connection.closed;
  });
});
