import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { lockDataDir } from "../../../server/storage/database/lock.ts";
import { createDataDir } from "../../helpers/databases.ts";
import { startProduction } from "../../helpers/production.ts";
import { startTestServer } from "../../helpers/server.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Within which nothing may be left of a command whose npm got a signal; far more than a busy machine needs. */
const STOP_LIMIT_MS = 120_000;

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
type Signal = (typeof SIGNALS)[number];

/** npm passes on SIGTERM and SIGINT and waits for the command's exit code; SIGHUP ends it at once. */
const exitOf = (signal: Signal) => (signal === "SIGHUP" ? [null, "SIGHUP"] : [0, null]);

describe("a signal to npm's own process", () => {
  test.each(SIGNALS)("stops the sandbox of `npm start` in order (%s)", async (signal) => {
    await using folder = await createDataDir();
    const env = { PORT: "0", DATA_DIR: folder.dataDir };
    const command = await runByNpm(["start"], env, /curl .*(http:\S+)\/v1\/refunds/);

    const stopped = await command.stop(signal);

    expect(stopped).toMatchObject({ exit: exitOf(signal), isListening: false });
    expect(stopped.output).toMatch(/\nStopping \(.+\)\.\nStopped\.\n$/);
    lockDataDir(folder.dataDir)();
  });

  test.each(SIGNALS)("stops the server of `npm run start:production` in order (%s)", async (signal) => {
    await using production = await startProduction();
    const env = { ...production.env, PORT: "0" };
    const command = await runByNpm(["run", "start:production"], env, /"url":"(http:[^"]+)".*"listening"/);

    const stopped = await command.stop(signal);

    expect(stopped).toMatchObject({ exit: exitOf(signal), isListening: false });
    expect(stopped.output).toMatch(/"msg":"stopping"\}\n.*"msg":"stopped"\}\n$/);
  });

  test.each(SIGNALS)("ends the subscription of `npm run listen` (%s)", async (signal) => {
    await using sandbox = await startTestServer();
    const command = await runByNpm(
      ["run", "listen", "--", "--url", sandbox.url],
      {},
      /come to (http:\S+)\/\./,
    );

    const stopped = await command.stop(signal);

    expect(stopped).toMatchObject({ exit: exitOf(signal), isListening: false });
    expect(stopped.output).toMatch(/\nStopping\.\nEnded the subscription sub_\S+\.\nStopped\.\n$/);
  });
});

/** Runs npm until its output matches the pattern, which finds the address of the command. */
async function runByNpm(args: readonly string[], env: Readonly<Record<string, string>>, ready: RegExp) {
  // Only the search path of the test run's environment, and without npm's update check.
  const settings = { PATH: process.env.PATH, npm_config_update_notifier: "false" };
  const npm = spawn("npm", args, {
    cwd: ROOT,
    env: { ...settings, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(npm, "close");
  let output = "";
  npm.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const url = await vi.waitFor(() => findUrl(ready, output), { timeout: 120_000 });
  const pids = descendantsOf(npm.pid ?? 0);
  onTestFinished(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  expect(pids.length).toBeGreaterThan(1);

  return {
    async stop(signal: Signal) {
      npm.kill(signal);
      await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: STOP_LIMIT_MS });
      return { exit: await closed, isListening: await isListening(url), output };
    },
  };
}

function findUrl(ready: RegExp, output: string): string {
  const url = ready.exec(output)?.[1];
  if (url === undefined) throw new Error(`npm has printed only: ${output}`);
  return url;
}

/** A process and all that it has started, directly and indirectly. */
function descendantsOf(root: number): number[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const rows = table.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const pids = [root];
  for (const pid of pids) {
    for (const [child, parent] of rows) if (parent === pid && child !== undefined) pids.push(child);
  }
  return pids;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function isListening(url: string): Promise<boolean> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port) });
  const connected = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return connected;
}
