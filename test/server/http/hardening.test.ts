/** What a server does against abuse and trouble: safe headers, limits of size and time, readiness. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createDeployment } from "../../helpers/deployment.ts";
import { engines } from "../../helpers/engine.ts";
import { createMerchant, createPayment, type Problem, refundOf } from "../../helpers/factories.ts";
import { startWireProxy } from "../../helpers/network/wire-proxy.ts";
import { post, startTestServer, useTestServer } from "../../helpers/server.ts";

describe("every response", () => {
  const server = useTestServer();

  test.each([
    ["/v1/refunds", "POST", 401],
    ["/v1/refund", "GET", 404],
    ["/v1/refunds", "GET", 405],
    ["/healthz", "GET", 200],
    ["/openapi.json", "GET", 200],
  ])("names no product and no version, and has the security headers (%s)", async (path, method, status) => {
    const response = await fetch(server.url + path, { method, headers: { Origin: "https://evil.test" } });

    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-security-policy": "default-src 'none';frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "strict-transport-security": expect.stringMatching(/^max-age=\d{8,}/),
      "x-content-type-options": "nosniff",
      "x-frame-options": "SAMEORIGIN",
    });
    for (const name of ["server", "x-powered-by", "via", "access-control-allow-origin"])
      expect([name, response.headers.get(name)]).toEqual([name, null]);
  });

  test("to an unexpected body has no stack trace, and no body changes Object.prototype", async () => {
    const bodies = ["__proto__", "constructor", "prototype"].flatMap((name) => [
      `{"${name}":{"polluted":true}}`,
      `{"amount":{"${name}":{"polluted":true}}}`,
      `{"${name}":{"prototype":{"polluted":true}},"requestKey":"k"}`,
    ]);
    const paths = ["/v1/refunds", "/v1/webhook/subscribe", "/sandbox/payments"];

    const calls = [...bodies, "{", `"${"\ud800"}"`, "1e999"].flatMap((body) =>
      paths.map((path) => post(server.url, path, body)),
    );
    for (const { status, body } of await Promise.all(calls)) {
      expect(status).toBe(400);
      expect(JSON.stringify(body)).not.toMatch(/\bat .+:\d+|node_modules|\.ts\b|SyntaxError|TypeError/);
    }

    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
  });
});

test.each(engines)("a server whose database is gone is alive but not ready (%s)", async (engine) => {
  await using server = await startTestServer({ engine });
  const probe = async (path: string) => {
    const response = await fetch(server.url + path);
    return [response.status, await response.json()];
  };
  expect(await probe("/readyz")).toEqual([200, { status: "ready" }]);

  await server.database.close();

  expect(await probe("/healthz")).toEqual([200, { status: "ok" }]);
  expect(await probe("/readyz")).toEqual([503, { status: "unavailable" }]);
});

test("the id of a response with 500 is that under which the error is logged", async () => {
  await using server = await startTestServer();
  await server.database.db.schema.alterTable("events").renameTo("elsewhere").execute();

  const { body } = await post<Problem>(server.url, "/v1/refunds", refundOf("pay_settled"));

  const requestId = body.instance.replace("urn:uuid:", "");
  const logged = server.logLines.filter((line) => line.includes(requestId));
  expect(logged.join()).toContain('relation \\"events\\" does not exist');
});

test("another merchant's payment costs the database the same statements as none at all", async () => {
  await using deployment = await createDeployment();
  const direct = new URL(deployment.url);
  await using proxy = await startWireProxy(Number(direct.port));
  const DATABASE_URL = Object.assign(new URL(direct), { port: proxy.port }).href;
  const server = await deployment.start({ env: { DATABASE_URL } });
  const { merchant } = await createMerchant(server);
  const foreign = await createPayment(server, { merchant });
  /** The messages of one call, on a connection that has prepared the statements, or on a new one. */
  const statementsOf = async (paymentId: string) => {
    proxy.dropAll();
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);
    proxy.watch(paymentId);
    const request = refundOf(paymentId, { requestKey: `key ${paymentId}` });
    expect((await post(server.url, "/v1/refunds", request)).status).toBe(404);
    return proxy.exchanges.map(({ statement, response }) => `${statement} ${response}`);
  };

  const unknown = await statementsOf(`pay_${randomUUID()}`);
  const known = await statementsOf(foreign);

  expect(unknown.length).toBeGreaterThanOrEqual(2);
  expect(known).toEqual(unknown);
});
