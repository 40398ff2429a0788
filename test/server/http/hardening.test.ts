import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createTestDatabase } from "../../helpers/databases.ts";
import { createMerchant, createPayment, type Problem, refundOf } from "../../helpers/factories.ts";
import { exchange, head } from "../../helpers/network/raw-http.ts";
import { startWireProxy } from "../../helpers/network/wire-proxy.ts";
import { post, startTestServer, useTestServer } from "../../helpers/server.ts";

describe("every response", () => {
  const server = useTestServer();

  const calls: [name: string, path: string, init: RequestInit, status: number][] = [
    ["a served call", "/v1/refunds", call(JSON.stringify(refundOf("pay_settled"))), 201],
    ["a bad body", "/v1/refunds", call("{"), 400],
    ["no access token", "/v1/refunds", { method: "POST", body: "{}" }, 401],
    ["an unknown path", "/v1/refund", {}, 404],
    ["another method", "/v1/refunds", {}, 405],
    ["a probe", "/healthz", {}, 200],
  ];

  test.each(calls)(
    "names no product and no version, and shuts the browser's doors (%s)",
    async (_name, path, init, status) => {
      const response = await fetch(server.url + path, init);
      await response.arrayBuffer();

      expect(response.status).toBe(status);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-security-policy": "default-src 'none';frame-ancestors 'none'",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "strict-transport-security": expect.stringMatching(/^max-age=\d{8,}/),
        "x-content-type-options": "nosniff",
        "x-frame-options": "SAMEORIGIN",
      });
      for (const name of ["server", "x-powered-by", "via", "access-control-allow-origin"]) {
        expect([name, response.headers.get(name)]).toEqual([name, null]);
      }
    },
  );

  test("to bytes that are no HTTP names no product either", async () => {
    const { status, headers } = await exchange(server.url, "NONSENSE\r\n\r\n");

    expect(status).toBe(400);
    expect(Object.keys(headers).sort()).toEqual(["connection", "content-length", "content-type"]);
  });

  test("that is a fault of the caller holds no line of a stack", async () => {
    const bodies = ["{", "[]", '{"amount":{"__proto__":1}}', `"${"\ud800"}"`, "1e999", "{}{}"];

    const responses = await Promise.all(bodies.map((body) => post<Problem>(server.url, "/v1/refunds", body)));

    for (const { status, body } of responses) {
      expect(status).toBe(400);
      expect(JSON.stringify(body)).not.toMatch(/\bat .+:\d+|node_modules|\.ts\b|SyntaxError|TypeError/);
    }
  });

  test("leaves the prototype of all objects as it was", async () => {
    const names = ["__proto__", "constructor", "prototype"];
    const bodies = names.flatMap((name) => [
      `{"${name}":{"polluted":true}}`,
      `{"amount":{"${name}":{"polluted":true}}}`,
      `{"${name}":{"prototype":{"polluted":true}},"requestKey":"k"}`,
    ]);

    const responses = await Promise.all(
      bodies.flatMap((body) => [
        post(server.url, "/v1/refunds", body),
        post(server.url, "/v1/webhook/subscribe", body),
        post(server.url, "/sandbox/payments", body),
      ]),
    );

    expect(responses.map(({ status }) => status)).toEqual(Array(bodies.length * 3).fill(400));
    expect(Object.keys(Object.getOwnPropertyDescriptors(Object.prototype))).not.toContain("polluted");
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("to a head of more than 16 KiB is a refusal, in one header or in many", async () => {
    const large = await exchange(server.url, head("GET /healthz", { "X-Large": "x".repeat(20_000) }));
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`X-${index}`, "x"]));
    const numerous = await exchange(server.url, head("GET /healthz", many));

    const said = {
      violations: [
        { pointer: "", message: expect.stringMatching(/more than 16 KiB.*send fewer or shorter/) },
      ],
    };
    expect([large, numerous]).toMatchObject([
      { status: 400, body: said },
      { status: 400, body: said },
    ]);
  });
});

/** @decision D08 */
test("another merchant's payment costs the database the same statements as none at all", async () => {
  const stored = await createTestDatabase("postgres");
  const direct = new URL(stored.url);
  await using proxy = await startWireProxy(Number(direct.port));
  const DATABASE_URL = Object.assign(new URL(direct), { port: proxy.port }).href;
  const ENCRYPTION_KEY = Buffer.alloc(32, 1).toString("base64");
  const server = await startTestServer({ env: { DATABASE_URL, ENCRYPTION_KEY }, dataDir: "unused" });
  const { merchant } = await createMerchant(server);
  const foreign = await createPayment(server, { merchant });
  /** The messages of one call, on a connection that has prepared the statements, or on a new one. */
  const statementsOf = async (paymentId: string) => {
    proxy.dropAll();
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);
    proxy.watch(paymentId);
    const { status } = await post(
      server.url,
      "/v1/refunds",
      refundOf(paymentId, { requestKey: `key ${paymentId}` }),
    );
    expect(status).toBe(404);
    return proxy.exchanges.map(({ statement, response }) => `${statement} ${response}`);
  };

  const unknown = await statementsOf(`pay_${randomUUID()}`);
  const known = await statementsOf(foreign);

  expect(unknown.length).toBeGreaterThanOrEqual(2);
  expect(known).toEqual(unknown);
  await server.close();
  await stored.remove();
});

function call(body: string): RequestInit {
  const headers = { Authorization: "Bearer sandbox_acme", "Content-Type": "application/json" };
  return { method: "POST", headers, body };
}
