import { describe, expect, test } from "vitest";
import { exchange, head, openConnection } from "../../helpers/network/raw-http.ts";
import { expectNothingStored, post, useTestServer } from "../../helpers/server.ts";

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

  test("that begins with a byte order mark gets 400, which says so", async () => {
    const { body } = await post(server.url, "/v1/refunds", "\uFEFF{}");

    expect(body).toMatchObject({
      violations: [{ pointer: "", message: expect.stringContaining("byte order mark") }],
    });
  });

  describe("without a body", () => {
    test.each([
      ["none", {}],
      ["an empty one", { "Content-Length": 0 }],
      ["an empty one in chunks", { "Transfer-Encoding": "chunked" }],
    ])("gets 400 (%s)", async (_name, headers) => {
      const end = "Transfer-Encoding" in headers ? "0\r\n\r\n" : "";

      const { body } = await exchange(server.url, head("/v1/refunds", headers) + end);

      expect(body).toMatchObject({
        status: 400,
        errorDetails: { errorCode: "INVALID_REQUEST" },
        violations: [{ pointer: "" }],
      });
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
