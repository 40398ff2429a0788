import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { givenDataDir } from "../helpers/data-dir.ts";
import { post } from "../helpers/server.ts";
import { type Problem, refundOf } from "./given.ts";

/** A pipe holds 64 KiB: each call writes some two hundred bytes. */
const CALLS = 1_000;

test("a log that nobody reads holds up no call, and nothing of it is lost", async () => {
  await using folder = await givenDataDir();
  const env = {
    PATH: process.env.PATH,
    PORT: "0",
    DATA_DIR: folder.dataDir,
    LOG_LEVEL: "info",
    RATE_LIMIT: "off",
  };
  const server = spawn(process.execPath, ["server/main.ts"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(server, "close");
  onTestFinished(async () => {
    server.kill("SIGKILL");
    await ended;
  });
  let printed = "";
  server.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  while (!/curl .*\n/.test(printed)) await once(server.stdout, "data");
  const [url = ""] = /https?:\/\/[^/\s"]+/.exec(printed) ?? [];
  server.stdout.pause();

  const waiting = Array.from({ length: CALLS }, (_, index) => `unknown-${index}`).values();
  const statuses = new Set<number>();
  const caller = async () => {
    for (const paymentId of waiting) {
      statuses.add((await post<Problem>(url, "/v1/refunds", refundOf(paymentId))).status);
    }
  };
  await Promise.all(Array.from({ length: 8 }, caller));
  server.stdout.resume();
  server.kill("SIGTERM");

  expect(await ended).toEqual([0, null]);
  expect([...statuses]).toEqual([404]);
  expect(printed.match(/"status":404/g)).toHaveLength(CALLS);
});
