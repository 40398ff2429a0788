import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { readContract } from "../../scripts/lib/contract.ts";
import { readConfig } from "../../server/config.ts";
import { startServer } from "../../server/start.ts";
import { createTestDatabase } from "../helpers/databases.ts";
import { givenMerchant, type Problem } from "../server/given.ts";

const { operations } = readContract("sandbox");

/** @decision D25 */
test("production serves no call of the sandbox, and has none of its merchants", async () => {
  const database = await createTestDatabase("postgres");
  onTestFinished(() => database.remove());
  const { databaseUrl = "", dataDir } = database.options;
  const ENCRYPTION_KEY = randomBytes(32).toString("base64");
  const sandbox = readConfig({
    PORT: "0",
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ENCRYPTION_KEY,
    RATE_LIMIT: "off",
  });
  const server = await startServer({ ...sandbox, mode: "production" }, { logger: pino({ enabled: false }) });
  onTestFinished(() => server.close());
  const { token } = await givenMerchant(server);

  const send = async (method: string, path: string, bearer: string) => {
    const headers = { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" };
    const body = method === "POST" ? { body: "{}" } : {};
    const answer = await fetch(server.url + path, { method, headers, ...body });
    const problem = (await answer.json()) as Problem;
    return `${method} ${path} ${answer.status} ${problem.errorDetails.errorCode}`;
  };
  const answers = await Promise.all(operations.map(({ method, path }) => send(method, path, token)));
  const published = await send("POST", "/v1/refunds", token);
  const withKnownToken = await send("POST", "/v1/refunds", "sandbox_acme");

  expect(answers).toEqual(operations.map(({ method, path }) => `${method} ${path} 404 NOT_FOUND`));
  expect(answers).toHaveLength(14);
  expect(published).toBe("POST /v1/refunds 400 INVALID_REQUEST");
  expect(withKnownToken).toBe("POST /v1/refunds 401 UNAUTHORIZED");
});
