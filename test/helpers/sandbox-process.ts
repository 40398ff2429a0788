import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { withTempDir } from "../../scripts/command/files.ts";
import { PROCESS_ENV } from "./process-env.ts";
import { serverOptions } from "./server-options.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export type SandboxProcess = { readonly url: string; readonly pid: number };

/**
 * Calls `use` with a new sandbox: the server as started by hand, on a free port, with a new data folder. Both are removed
 * afterwards. Rejects with the server's output when it does not start.
 *
 * @param env further settings
 */
export async function withSandboxProcess<T>(
  use: (sandbox: SandboxProcess) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  return withTempDir(async (folder) => {
    const child = spawn(process.execPath, [...serverOptions(), "server/main.ts"], {
      cwd: ROOT,
      env: { ...PROCESS_ENV, PORT: "0", DATA_DIR: folder, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const closed = once(child, "close");
    try {
      return await use({ url: await addressOf(child), pid: child.pid ?? 0 });
    } finally {
      child.kill("SIGKILL");
      await closed;
    }
  });
}

async function addressOf(child: ChildProcess): Promise<string> {
  let printed = "";
  const streams = [child.stdout, child.stderr];
  const keep = (text: string) => {
    printed += text;
  };
  for (const stream of streams) stream?.setEncoding("utf8").on("data", keep);
  const ended = once(child, "close").then(() => {
    throw new Error(`the sandbox did not start:\n${printed}`);
  });
  ended.catch(() => {});
  // The curl line is the last thing that it prints, when it takes calls.
  while (!/curl .*\n/.test(printed)) {
    await Promise.race([ended, child.stdout && once(child.stdout, "data")]);
  }
  for (const stream of streams) stream?.off("data", keep).resume(); // otherwise its log would fill our memory
  return /https?:\/\/[^/\s]+/.exec(printed)?.[0] ?? "";
}
