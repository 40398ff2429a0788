import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { PROCESS_ENV } from "../../lib/process-env.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** How the command ended, and all that it printed. */
export type ListenExit = {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
};

/** `npm run listen`, as somebody runs it. */
export type ListenProcess = AsyncDisposable & {
  readonly child: ChildProcess;
  readonly exit: Promise<ListenExit>;
  /** What the pattern finds in all that was printed, as soon as it is there. Rejects when the command ends before. */
  untilPrinted(pattern: RegExp): Promise<readonly string[]>;
};

/** Starts the command; disposing of it ends it. */
export function spawnListen(...args: string[]): ListenProcess {
  // Nothing of the environment of the test run but where programs are: its settings would be the command's.
  const env = PROCESS_ENV;
  const stdio = ["ignore", "pipe", "pipe"] as const;
  const child = spawn(process.execPath, ["scripts/listen.ts", ...args], {
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
    ended.catch(() => {}); // only of interest while somebody waits
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
