import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post, startTestServer, type TestServer } from "../helpers/server.ts";
import { countRows, type Problem } from "./given.ts";
import { exchange, head, openConnection } from "./raw-http.ts";

const KIB = 1024;

describe("a call", () => {
  let server: TestServer;
  let url: string;
  let before: Awaited<ReturnType<typeof countRows>>;

  beforeAll(async () => {
    server = await startTestServer();
    url = server.url;
    before = await countRows(server);
  });
  // No call of this file is served, so that each test also says: and nothing is stored.
  afterAll(async () => {
    expect(await countRows(server)).toEqual(before);
    await server.close();
  });

  /** @decision D15 */
  describe("with a large body", () => {
    const tooLarge = { status: 413, errorDetails: { errorCode: "PAYLOAD_TOO_LARGE" } };

    test("of 64 KiB is read", async () => {
      const { status } = await post(url, "/v1/refunds", `${" ".repeat(64 * KIB - 2)}{}`);

      expect(status).toBe(400);
    });

    test.each([
      ["of one byte more", 64 * KIB + 1],
      ["of 10 MB", 10_000_000],
    ])("%s is answered 413 on its head alone", async (_name, length) => {
      const { body } = await exchange(url, head("/v1/refunds", { "Content-Length": length }));

      expect(body).toMatchObject(tooLarge);
    });

    test.each([
      ["of 10 MB", "x".repeat(10_000_000)],
      ["of 100,000 levels", "[".repeat(100_000)],
      ["of one byte more", `${" ".repeat(64 * KIB - 1)}{}`],
    ])("%s in chunks is answered 413", async (_name, text) => {
      const chunk = `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

      const { body } = await exchange(url, head("/v1/refunds", { "Transfer-Encoding": "chunked" }), chunk);

      expect(body).toMatchObject(tooLarge);
    });

    test("of 100,000 levels is answered 413 and not parsed", async () => {
      const { body } = await post<Problem>(url, "/v1/refunds", "[".repeat(100_000));

      expect(body).toMatchObject(tooLarge);
    });
  });

  describe("without a body", () => {
    test.each([
      ["none", {}],
      ["an empty one", { "Content-Length": 0 }],
      ["an empty one in chunks", { "Transfer-Encoding": "chunked" }],
    ])("is answered 400 (%s)", async (_name, headers) => {
      const end = "Transfer-Encoding" in headers ? "0\r\n\r\n" : "";

      const { body } = await exchange(url, head("/v1/refunds", headers) + end);

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
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ bodyTimeoutMs: 250, headTimeoutMs: 250 });
  });
  afterAll(() => server.close());

  const timeout = { status: 408, errorDetails: { errorCode: "REQUEST_TIMEOUT" } };

  test.each([
    ["declared", { "Content-Length": 100 }, "{"],
    ["chunked", { "Transfer-Encoding": "chunked" }, "1\r\n{\r\n"],
  ])("in its %s body is answered 408, and the connection is closed", async (_name, headers, begun) => {
    using connection = await openConnection(server.url);
    connection.send(head("/v1/refunds", headers) + begun);

    const { body, headers: answered } = await connection.answer();

    expect(body).toMatchObject(timeout);
    expect(answered.connection).toBe("close");
    await connection.closed;
  });

  test("in its head is answered 408", async () => {
    const { body } = await exchange(server.url, "POST /v1/refunds HTTP/1.1\r\nHost: loc");

    expect(body).toMatchObject(timeout);
  });
});
