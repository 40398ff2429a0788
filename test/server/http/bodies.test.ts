import { describe, expect, test } from "vitest";
import { exchange, head, openConnection } from "../../helpers/network/raw-http.ts";
import { expectNothingStored, useTestServer } from "../../helpers/server.ts";

const KIB = 1024;

describe("a call", () => {
  const server = useTestServer();
  expectNothingStored(server);

  /** @decision D15 */
  describe("with a large body", () => {
    const tooLarge = { status: 413, errorDetails: { errorCode: "PAYLOAD_TOO_LARGE" } };

    test.each([
      ["of one byte more", 64 * KIB + 1],
      ["of 10 MB", 10_000_000],
    ])("%s gets 413 on its head alone", async (_name, length) => {
      const { body } = await exchange(server.url, head("/v1/refunds", { "Content-Length": length }));

      expect(body).toMatchObject(tooLarge);
    });

    test.each([
      ["of 10 MB", "x".repeat(10_000_000)],
      ["of 100,000 levels", "[".repeat(100_000)],
      ["of one byte more", `${" ".repeat(64 * KIB - 1)}{}`],
    ])("%s in chunks gets 413", async (_name, text) => {
      const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

      const { body } = await exchange(
        server.url,
        head("/v1/refunds", { "Transfer-Encoding": "chunked" }),
        chunk,
      );

      expect(body).toMatchObject(tooLarge);
    });
  });

  test.each([
    ["no body", {}, "", /^is missing; send/],
    ["an empty body", { "Content-Length": 0 }, "", /^is empty; send/],
    ["an empty body in chunks", { "Transfer-Encoding": "chunked" }, "0\r\n\r\n", /^is empty; send/],
    ["a mark before its body", { "Content-Length": 5 }, "\uFEFF{}", /^begins with a byte order mark; send/],
  ])("with %s gets 400, and reads what to send", async (_name, headers, sent, message) => {
    const { body } = await exchange(server.url, head("/v1/refunds", headers) + sent);

    expect(body).toMatchObject({
      status: 400,
      errorDetails: { errorCode: "INVALID_REQUEST" },
      violations: [{ pointer: "", message: expect.stringMatching(message) }],
    });
  });
});

/** @decision D08 */
describe("a call that comes too slowly", () => {
  const server = useTestServer({ bodyTimeoutMs: 250, headTimeoutMs: 250 });

  const timeout = { status: 408, errorDetails: { errorCode: "REQUEST_TIMEOUT" } };

  test.each([
    ["declared", { "Content-Length": 100 }, "{"],
    ["chunked", { "Transfer-Encoding": "chunked" }, "1\r\n{\r\n"],
  ])("in its %s body gets 408, and the connection is closed", async (_name, headers, begun) => {
    using connection = await openConnection(server.url);
    connection.send(head("/v1/refunds", headers) + begun);

    const { body, headers: responseHeaders } = await connection.response();

    expect(body).toMatchObject(timeout);
    expect(responseHeaders.connection).toBe("close");
    await connection.closed;
  });

  test("in its head gets 408", async () => {
    const { body } = await exchange(server.url, "POST /v1/refunds HTTP/1.1\r\nHost: loc");

    expect(body).toMatchObject(timeout);
  });
});
