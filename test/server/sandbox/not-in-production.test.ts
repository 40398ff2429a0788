import { expect, test } from "vitest";
import { readContract } from "../../../openapi/document/read-contract.ts";
import { startProduction } from "../../helpers/deployment.ts";
import type { Problem } from "../../helpers/factories.ts";
import { startTestServer } from "../../helpers/server.ts";

const { operations } = readContract("sandbox");

test("production serves no call of the sandbox, and has none of its merchants", async () => {
  await using production = await startProduction();
  const server = await production.start();
  const token = await production.issuer.token({ merchant_id: "acme" });

  const send = async (method: string, path: string, bearer: string) => {
    const headers = { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" };
    const body = method === "POST" ? { body: "{}" } : {};
    const response = await fetch(server.url + path, { method, headers, ...body });
    const problem = (await response.json()) as Problem;
    return `${method} ${path} ${response.status} ${problem.errorDetails.errorCode}`;
  };
  const responses = await Promise.all(operations.map(({ method, path }) => send(method, path, token)));

  expect(responses).toEqual(operations.map(({ method, path }) => `${method} ${path} 404 NOT_FOUND`));
  expect(await send("POST", "/v1/refunds", token)).toBe("POST /v1/refunds 400 INVALID_REQUEST");
  expect(await send("POST", "/v1/refunds", "sandbox_acme")).toBe("POST /v1/refunds 401 UNAUTHORIZED");
});

test("a production database has no tokens, payments or clock of a sandbox, and no sandbox starts on it", async () => {
  await using production = await startProduction();
  const server = await production.start();
  const { db } = server.database;
  const { MODE: _, ...sandbox } = production.env;

  const rows = await Promise.all(
    (["access_tokens", "payments", "clock"] as const).map((table) =>
      db.selectFrom(table).selectAll().execute(),
    ),
  );

  expect(rows).toEqual([[], [], []]);
  await expect(startTestServer({ env: sandbox, dataDir: "unused" })).rejects.toThrow(
    /^DATABASE_URL names a database that is used in MODE=production\. MODE=sandbox needs another one/,
  );
});

test("production does not start on the database of a sandbox", async () => {
  await using production = await startProduction();
  const { MODE: _, ...sandbox } = production.env;
  await using server = await startTestServer({ env: sandbox, dataDir: "unused" });

  await expect(production.start()).rejects.toThrow(
    /^DATABASE_URL names a database that is used in MODE=sandbox\./,
  );
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
});
