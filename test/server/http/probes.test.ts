import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { engines } from "../../helpers/engine.ts";
import { type Problem, refundOf } from "../../helpers/factories.ts";
import { exchange, head } from "../../helpers/network/raw-http.ts";
import { post, startTestServer, useTestServer } from "../../helpers/server.ts";

describe("a running server", () => {
  const server = useTestServer();

  test.each([
    ["/healthz", { status: "ok" }],
    ["/readyz", { status: "ready" }],
  ])("responds to %s with 200", async (path, body) => {
    const response = await fetch(server.url + path);

    expect([response.status, await response.json()]).toEqual([200, body]);
  });

  test.each(["openapi", "openapi-3.0"])(
    "serves %s as it was generated, save for its own address, as JSON and as YAML",
    async (name) => {
      const generated = new URL(`../../../openapi/generated/${name}.json`, import.meta.url);

      const json = await fetch(`${server.url}/${name}.json`);
      const yaml = await fetch(`${server.url}/${name}.yaml`);

      expect(json.headers.get("content-type")).toBe("application/json");
      expect(yaml.headers.get("content-type")).toMatch(/^application\/yaml/);
      const text = await json.text();
      const written = await readFile(generated, "utf8");
      expect(text).toBe(written.replaceAll("http://127.0.0.1:3000", server.url));
      expect(parse(await yaml.text())).toEqual(JSON.parse(text));
    },
  );

  test.each(["/healthz", "/readyz", "/openapi.json", "/openapi-3.0.yaml", "/docs"])(
    "lets %s only be read",
    async (path) => {
      for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
        const response = await fetch(server.url + path, { method });

        expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
        await response.arrayBuffer();
      }
    },
  );

  test("does not let a browser's page of another host read anything", async () => {
    const { status } = await exchange(server.url, head("GET /openapi.json", { Host: "evil.test" }));
    const response = await fetch(`${server.url}/openapi.json`, { headers: { Origin: "https://evil.test" } });

    expect(status).toBe(403);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    await response.arrayBuffer();
  });
});

describe.each(engines)("a server whose database is gone on %s", (engine) => {
  const server = useTestServer({ engine });
  beforeAll(async () => {
    await server.database.close();
  });

  test("is alive but not ready", async () => {
    const [healthz, readyz] = await Promise.all(
      ["/healthz", "/readyz"].map((path) => fetch(server.url + path)),
    );

    expect([healthz?.status, readyz?.status]).toEqual([200, 503]);
    expect(await readyz?.json()).toEqual({ status: "unavailable" });
  });
});

/** @decision D08 */
test("a server responds to an error of its own with 500 and nothing but the id under which it is logged", async () => {
  await using server = await startTestServer();
  await server.database.db.schema.alterTable("events").renameTo("elsewhere").execute();

  const { status, body } = await post<Problem>(server.url, "/v1/refunds", refundOf("pay_settled"));

  const detail = "Something went wrong on our side. Repeat the call; for a refund, with the same requestKey.";
  expect([status, body]).toEqual([
    500,
    {
      type: "urn:problem:internal-error",
      title: "Internal error",
      status: 500,
      detail,
      instance: body.instance,
      errorDetails: { errorCode: "INTERNAL_ERROR", errorMessage: detail },
    },
  ]);
  const requestId = body.instance.replace("urn:uuid:", "");
  const logged = server.logLines.filter((line) => line.includes(requestId));
  expect(logged.some((line) => line.includes('relation \\"events\\" does not exist'))).toBe(true);
});
