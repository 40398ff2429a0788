import { describe, expect, onTestFinished, test, vi } from "vitest";
import { lockDataDir } from "../../../server/storage/database/lock.ts";
import { createDataDir } from "../../helpers/databases.ts";
import { descendantsOf, startProgram } from "../../helpers/process.ts";

/** Within which nothing may be left of a command whose npm got a signal; far more than a busy machine needs. */
const STOP_LIMIT_MS = 120_000;

type Signal = "SIGTERM" | "SIGINT" | "SIGHUP";

/** The commands share `server/process/stop-signals.ts`, so that each signal is tried with one of them. */
describe("a signal to npm's own process", () => {
  test("stops the sandbox of `npm start` in order (SIGHUP, as a terminal that closes sends)", async () => {
    await using folder = await createDataDir();
    const env = { PORT: "0", DATA_DIR: folder.dataDir };
    const command = await runByNpm(["start"], env, /curl .*http:\S+\/v1\/refunds/);

    const stopped = await command.stop("SIGHUP");

    // npm passes on SIGTERM and SIGINT and waits for the command's exit code; SIGHUP ends it at once.
    expect(stopped).toMatchObject({ exit: [null, "SIGHUP"] });
    expect(stopped.output).toMatch(/\nStopping \(.+\)\.\nStopped\.\n$/);
    lockDataDir(folder.dataDir)();
  });
});

/** Runs npm until its output matches the pattern. */
async function runByNpm(args: readonly string[], env: Readonly<Record<string, string>>, ready: RegExp) {
  // Without npm's update check.
  const settings = { NODE_OPTIONS: "", npm_config_update_notifier: "false", ...env };
  const npm = startProgram(["npm", ...args], { env: settings });
  await npm.untilPrinted(ready);
  const pids = descendantsOf(npm.pid);
  onTestFinished(() => {
    for (const pid of pids.filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  expect(pids.length).toBeGreaterThan(1);

  return {
    async stop(signal: Signal) {
      npm.kill(signal);
      await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), { timeout: STOP_LIMIT_MS });
      const { code, signal: endedBy, stdout } = await npm.exit;
      return { exit: [code, endedBy], output: stdout };
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
