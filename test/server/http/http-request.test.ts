import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { refundOf } from "../../helpers/factories.ts";
import { exchange, head, openConnection } from "../../helpers/network/raw-http.ts";
import { expectNothingStored, useTestServer } from "../../helpers/server.ts";

const problem = (status: number, errorCode: string) => ({ status, errorDetails: { errorCode } });
const INVALID = problem(400, "INVALID_REQUEST");
const CHUNKED = { "Transfer-Encoding": "chunked" };
const CHUNKED_HEAD = head("/v1/refunds", CHUNKED);

describe("a call", () => {
  const server = useTestServer();
  expectNothingStored(server);

  /** Sends an empty JSON object, which gets 400 when nothing else is wrong. */
  const send = (headers: Parameters<typeof head>[1] = {}, target = "/v1/refunds") =>
    exchange(server.url, head(target, { "Content-Length": 2, ...headers }), "{}");

  test.each(["Basic YWNtZTphY21l", "Bearer", "bearer  "])(
    "without an access token gets a 401 that names no error of a token (Authorization: %s)",
    async (Authorization) => {
      const { status, headers } = await send({ Authorization });

      expect([status, headers["www-authenticate"]]).toEqual([401, "Bearer"]);
    },
  );

  describe("with a body in another media type", () => {
    test("gets 415 for its headers alone when it is compressed: the body is not even read", async () => {
      const bomb = gzipSync(Buffer.alloc(10_000_000));
      const headers = { "Content-Length": bomb.length, "Content-Encoding": "gzip" };

      expect((await exchange(server.url, head("/v1/refunds", headers))).status).toBe(415);
    });
  });

  test.each([
    ["that names nothing", "", "application/problem+json"],
    ["of empty entries", " , ,", "application/problem+json"],
    ["of JSON in capitals", "APPLICATION/JSON", "application/json"],
    ["of JSON and nothing else", "application/json, */*;q=0", "application/json"],
    ["of JSON and thousands more", `application/json,${"a/b,".repeat(3_000)}`, "application/json"],
  ])("with an Accept %s gets problems in that type", async (_name, Accept, type) => {
    const { status, headers } = await send({ Accept });

    expect([status, headers["content-type"]]).toEqual([400, type]);
  });

  test("is served in its turn on its connection, which is closed when too many wait", async () => {
    const page = head("GET /openapi.json", { "Content-Length": null });
    using patient = await openConnection(server.url);
    patient.send(page.repeat(10));
    for (let number = 0; number < 10; number += 1) expect((await patient.response()).status).toBe(200);
    using greedy = await openConnection(server.url);

    greedy.send(page.repeat(500));

    await greedy.closed;
  });

  describe("to a sandbox that is bound to this machine", () => {
    test.each(["evil.test", "localhost.evil.test", "evil-localhost", "127.0.0.1.", "0.0.0.0"])(
      "under another name gets 403 (%s)",
      async (Host) => {
        const calls = await Promise.all(
          ["/v1/refunds", "GET /sandbox/clock"].map((to) => send({ Host }, to)),
        );

        expect(calls.map(({ body }) => body)).toMatchObject(Array(2).fill(problem(403, "FORBIDDEN")));
      },
    );

    test("under another name in its target gets 403", async () => {
      expect((await send({}, "http://evil.test/v1/refunds")).status).toBe(403);
    });

    test.each(["LOCALHOST:3000", "127.0.0.1", "[::1]", "[::1]:8080"])(
      "under the name %s is served",
      async (Host) => {
        expect((await send({ Host })).status).toBe(400);
      },
    );
  });

  test.each([
    ["no body", {}, "", /^is missing; send/],
    ["an empty body", { "Content-Length": 0 }, "", /^is empty; send/],
    ["an empty body in chunks", CHUNKED, "0\r\n\r\n", /^is empty; send/],
    ["a mark before its body", { "Content-Length": 5 }, "\uFEFF{}", /^begins with a byte order mark; send/],
    ["a head of 20 KB", { "X-Any": "y".repeat(20_000) }, "", /more than 16 KiB.*send fewer or shorter/],
    ["3,000 headers", manyHeaders(3_000), "", /more than 16 KiB.*send fewer or shorter/],
  ])("with %s gets a 400 that says what to send", async (_name, headers, sent, message) => {
    const { body } = await exchange(server.url, head("/v1/refunds", headers) + sent);

    const violations = [{ pointer: "", message: expect.stringMatching(message) }];
    expect(body).toMatchObject({ ...INVALID, violations });
  });

  test.each([
    ["not HTTP at all", "hello\r\n\r\n"],
    ["a TLS greeting", Buffer.of(0x16, 3, 1, 0, 200, 1, 0, 0, 0)],
    ["an unknown method", head("FETCH /v1/refunds")],
    ["a CONNECT", head("CONNECT localhost:80")],
    ["a negative length", head("/v1/refunds", { "Content-Length": -1 })],
    ["a length and chunks", head("/v1/refunds", { "Content-Length": 2, ...CHUNKED })],
    ["a broken chunk", `${CHUNKED_HEAD}zz\r\n`],
    ["a NUL in a header", head("/v1/refunds", { "X-Any": "a\0b" })],
    ["no Host", head("/v1/refunds", { Host: null })],
    ["no head", "GET /healthz\r\n\r\n"],
    ...[
      ...["", "user@localhost", "localhost/path", "localhost,example.com", "local host"],
      ...["localhost:x", "localhost:65536", "[::1", "[1:2]"],
    ].map((host): [string, string] => [
      `the Host ${JSON.stringify(host)}`,
      head("/v1/refunds", { Host: host }),
    ]),
    ["a star for its target", head("GET *")],
    ["two Hosts", head("/v1/refunds", { "X-Any": "1\r\nHost: localhost" })],
    ["two Authorizations", head("/v1/refunds", { "X-Any": "1\r\nAuthorization: Bearer sandbox_globex" })],
    [
      "two Authorizations at no path",
      head("/v1/refund", { Authorization: "Bearer a\r\nAuthorization: Bearer b" }),
    ],
    ["two Content-Types", head("/v1/refunds", { "X-Any": "1\r\ncontent-type: text/plain" })],
    ["a transfer coding", head("/v1/refunds", { "Transfer-Encoding": "gzip, chunked" })],
    ["chunks twice", head("/v1/refunds", { "Transfer-Encoding": "chunked, chunked" })],
    ["a fragment in its target", `${head("/v1/refunds#a", { "Content-Length": 2 })}{}`],
  ])("that is not well-formed HTTP gets 400 (%s)", async (_name, bytes) => {
    const { headers, body } = await exchange(server.url, bytes);

    expect(body).toMatchObject({ ...INVALID, violations: [{ pointer: "" }] });
    expect([headers.server, headers["x-powered-by"]]).toEqual([undefined, undefined]);
  });

  test.each([
    ["an expectation", "/v1/refunds", { Expect: "the-impossible" }],
    ["a target with a host", "http://localhost/v1/refunds", {}],
    ["a query", "/v1/refunds?a=1&a=2&[]=3", {}],
    ["an upgrade", "/v1/refunds", { Connection: "Upgrade", Upgrade: "websocket" }],
  ])("with %s is valid HTTP, and its body is read", async (_name, target, headers) => {
    const { body } = await send(headers, target);

    expect(body).toMatchObject({ ...INVALID, violations: [{ pointer: "/paymentId" }, {}, {}] });
  });
});

describe("a call that comes too slowly", () => {
  const server = useTestServer({ bodyTimeoutMs: 250, headTimeoutMs: 250 });

  test.each([
    ["body", `${CHUNKED_HEAD}1\r\n{\r\n`],
    ["head", "POST /v1/refunds HTTP/1.1\r\nHost: loc"],
  ])("in its %s gets 408, and the connection is closed", async (_name, begun) => {
    using connection = await openConnection(server.url);
    connection.send(begun);

    const { headers, body } = await connection.response();

    expect(body).toMatchObject(problem(408, "REQUEST_TIMEOUT"));
    expect(headers.connection).toBe("close");
    await connection.closed;
  });
});

describe("a call that garbage follows", () => {
  const server = useTestServer();

  test("gets its own response before the garbage is refused", async () => {
    using connection = await openConnection(server.url);
    const body = JSON.stringify(refundOf("pay_recent"));

    connection.send(`${head("/v1/refunds", { "Content-Length": body.length })}${body}garbage\r\n\r\n`);

    expect(await connection.response()).toMatchObject({ status: 201, body: { paymentStatus: "PENDING" } });
    expect(await connection.response()).toMatchObject({ status: 400 });
    await connection.closed;
  });
});

describe("a target that names no path", () => {
  const server = useTestServer();

  test("is not found", async () => {
    expect((await exchange(server.url, head("foo://[/"))).body).toMatchObject(problem(404, "NOT_FOUND"));
  });

  test("is refused when it has a byte that other servers cut off", async () => {
    const bytes = Buffer.from(head("/v1/refunds\xa0", { "Content-Length": 2 }), "latin1");

    expect((await exchange(server.url, bytes, "{}")).body).toMatchObject(INVALID);
  });
});

function manyHeaders(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, "x"]));
}
