import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { exchange, head } from "../../helpers/network/raw-http.ts";
import { expectNothingStored, post, useTestServer } from "../../helpers/server.ts";

describe("a call", () => {
  const server = useTestServer();
  expectNothingStored(server);

  const forbidden = { status: 403, errorDetails: { errorCode: "FORBIDDEN" } };

  /** @decision D15 */
  describe("to another path", () => {
    test.each([
      "//v1/refunds",
      "/v1//refunds",
      "/v1/%2e%2e/v1/refunds",
      "/v1/../v1/refunds",
      "/v1/refunds%2f",
      "/v1/%72efunds",
      "/v1/refunds%",
      "/%c0%ae",
      "/v1/refunds;a=1",
      "/v1/webhook",
      "/v1",
      "/",
      "*",
    ])("gets 404 (%s)", async (path) => {
      const { status, body } = await exchange(server.url, head(path, { "Content-Length": 2 }), "{}");

      expect([status, body]).toMatchObject([404, { errorDetails: { errorCode: "NOT_FOUND" } }]);
    });
  });

  /** @clause 7.1 8.1 @decision D08 */
  test.each(["HEAD", "OPTIONS"])("with the method %s gets 405", async (method) => {
    const { status, headers } = await fetch(`${server.url}/v1/refunds`, { method });

    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  /** @decision D27 */
  test("to a sandbox, where no limit is set, gets no RateLimit header", async () => {
    const { headers } = await post(server.url, "/v1/refunds", {});

    expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).toEqual([null, null]);
  });

  /** @clause 1.5 7.2 @decision D15 */
  describe("with a body in another media type", () => {
    test.each([
      "application/json; charset=utf-8; charset=utf-16",
      "application/json;charset=utf-8;Charset=utf-8",
      ";;",
    ])("gets 415 (%s)", async (type) => {
      const { status, body } = await exchange(
        server.url,
        head("/v1/refunds", { "Content-Length": 2, "Content-Type": type }),
        "{}",
      );

      expect([status, body]).toMatchObject([415, { errorDetails: { errorCode: "UNSUPPORTED_MEDIA_TYPE" } }]);
    });

    test("is read as JSON, whatever parameters follow", async () => {
      const headers = { "Content-Type": "application/json;a=b" };

      const { status } = await post(server.url, "/v1/refunds", {}, { headers });

      expect(status).toBe(400);
    });

    test("gets 415 on its head alone: a bomb is never unpacked, not even read", async () => {
      const bomb = gzipSync(Buffer.alloc(10_000_000));
      const headers = { "Content-Length": bomb.length, "Content-Encoding": "gzip" };

      const { status } = await exchange(server.url, head("/v1/refunds", headers));

      expect(status).toBe(415);
    });
  });

  /** @clause 7.2 @decision D04 D07 */
  describe("that accepts", () => {
    const problem = "application/problem+json";
    const json = "application/json";

    test.each([
      ["a list that names nothing", "", problem],
      ["a list of empty entries", " , ,", problem],
      ["JSON in capitals", "APPLICATION/JSON", json],
      ["JSON and nothing else", "application/json, */*;q=0", json],
    ])("%s gets problems in that type", async (_name, accept, type) => {
      const response = await exchange(
        server.url,
        head("/v1/refunds", { "Content-Length": 2, Accept: accept }),
        "{}",
      );

      expect([response.status, response.headers["content-type"]]).toEqual([400, type]);
    });

    test.each(["*/*, application/json;q=0", "json"])("no JSON gets 406 (%s)", async (accept) => {
      const { status, body } = await exchange(
        server.url,
        head("/v1/refunds", { "Content-Length": 2, Accept: accept }),
        "{}",
      );

      expect([status, body]).toMatchObject([406, { errorDetails: { errorCode: "NOT_ACCEPTABLE" } }]);
    });
  });

  describe("to a sandbox that is bound to this machine", () => {
    test.each([
      "evil.test",
      "localhost.evil.test",
      "evil-localhost",
      "127.0.0.1@evil.test",
      "127.0.0.1.",
      "localhost:x",
      "0.0.0.0",
      "",
    ])("under another name gets 403 (%s)", async (host) => {
      const { body } = await exchange(
        server.url,
        head("/v1/refunds", { Host: host, "Content-Length": 2 }),
        "{}",
      );

      expect(body).toMatchObject(forbidden);
    });

    test("under another name in its target gets 403", async () => {
      const { body } = await exchange(
        server.url,
        head("http://evil.test/v1/refunds", { "Content-Length": 2 }),
        "{}",
      );

      expect(body).toMatchObject(forbidden);
    });

    test.each(["localhost", "LOCALHOST:3000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8080"])(
      "under the name %s is served",
      async (host) => {
        const { status } = await exchange(
          server.url,
          head("/v1/refunds", { Host: host, "Content-Length": 2 }),
          "{}",
        );

        expect(status).toBe(400);
      },
    );
  });
});
