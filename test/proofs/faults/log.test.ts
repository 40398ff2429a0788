import { expect, test } from "vitest";
import { startProduction } from "../../helpers/deployment.ts";
import { findFreePort } from "../../helpers/network/local-server.ts";
import { SANDBOX, startProgram } from "../../helpers/process.ts";
import { record } from "./setup/figures.ts";

const CALLS = 100;

test("a log on a full disk stops no request", async () => {
  await using production = await startProduction();
  const port = await findFreePort();
  const command = ["sh", "-c", 'exec "$0" "$@" > /dev/full', ...SANDBOX];
  await using server = startProgram(command, {
    env: { ...production.env, PORT: `${port}`, DATA_DIR: "unused" },
  });
  const status = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  await expect.poll(status, { timeout: 20_000 }).toBe(200);

  for (let calls = 0; calls < CALLS; calls += 1) expect(await status()).toBe(200);
  server.kill("SIGTERM");

  expect(await server.exit).toMatchObject({ code: 0, signal: null });
  record("log on a full disk", { responses: CALLS });
});
