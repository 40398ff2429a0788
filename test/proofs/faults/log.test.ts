import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { findFreePort } from "../../helpers/network/free-port.ts";
import { startProduction } from "../../helpers/production.ts";
import { record } from "./rig/figures.ts";

const CALLS = 100;

test("a log on a full disk stops no request", async () => {
  await using production = await startProduction();
  const port = await findFreePort();
  const env = { PATH: process.env.PATH, ...production.env, PORT: `${port}`, DATA_DIR: "unused" };
  const server = spawn(process.execPath, ["server/main.ts"], {
    env,
    stdio: ["ignore", openSync("/dev/full", "w"), "inherit"],
  });
  const ended = once(server, "exit");
  onTestFinished(async () => {
    server.kill("SIGKILL");
    await ended;
  });
  const status = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  await expect.poll(status, { timeout: 20_000 }).toBe(200);

  for (let calls = 0; calls < CALLS; calls += 1) expect(await status()).toBe(200);
  server.kill("SIGTERM");

  expect(await ended).toEqual([0, null]);
  record("log on a full disk", { responses: CALLS });
});
