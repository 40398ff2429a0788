import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { PROCESS_ENV } from "../../../helpers/process-env.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** The exit code of the command, and its output. */
export type ListenExit = {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
};

/** `npm run listen` as a user runs it. */
export type ListenProcess = AsyncDisposable & {
  readonly child: ChildProcess;
  readonly exit: Promise<ListenExit>;
  /** Resolves with the first match of the pattern in the output. Rejects when the command ends before that. */
  untilPrinted(pattern: RegExp): Promise<readonly string[]>;
};

/** Starts the command; disposing of it ends it. */
export function spawnListen(...args: string[]): ListenProcess {
  // Only the search path of the test run's environment, because its settings would apply to the command.
  const env = PROCESS_ENV;
  const stdio = ["ignore", "pipe", "pipe"] as const;
  const child = spawn(process.execPath, ["server/sandbox/cli.ts", "listen", ...args], {
    cwd: ROOT,
    env,
    stdio: [...stdio],
  });
  const { stdout, stderr } = child;
  let out = "";
  let error = "";
  stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  stderr.setEncoding("utf8").on("data", (text: string) => {
    error += text;
  });
  const exit = once(child, "close").then(([code]) => ({ code, out, error }));

  async function untilPrinted(pattern: RegExp): Promise<readonly string[]> {
    const ended = exit.then((end) => Promise.reject(new Error(`it ended with ${end.code}: ${end.error}`)));
    ended.catch(() => {}); // ignored unless somebody waits for it
    for (;;) {
      const found = pattern.exec(out);
      if (found) return found;
      await Promise.race([once(stdout, "data"), ended]);
    }
  }

  async function dispose(): Promise<void> {
    child.kill("SIGKILL");
    await exit;
  }
  return { child, exit, untilPrinted, [Symbol.asyncDispose]: dispose };
}
