import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../scripts/packages/run.ts";

const START_LIMIT_MS = 120_000;

/** Creates an empty folder that uses the registry. */
export async function openFolder(parent: string, name: string, npmrc: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  await writeFile(join(folder, ".npmrc"), npmrc);
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  return folder;
}

/** The disk space of a folder in MB, as `du -sm` reports it: in whole blocks, folders included. */
export async function sizeOf(folder: string): Promise<number> {
  return Number.parseInt(await run("du", ["-sm", folder], folder), 10);
}

/**
 * Calls `use` with a running sandbox that a command starts, then stops the command. Resolves when its port is free again.
 */
export async function withStarted(
  [program = "", ...args]: readonly string[],
  folder: string,
  use: (url: string, curl: string) => Promise<void>,
): Promise<void> {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  const env = Object.fromEntries(kept);
  const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), START_LIMIT_MS);
  try {
    while (!/curl .*\n/.test(printed)) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}:\n${printed}`);
      await Promise.race([closed, once(child.stdout, "data")]);
    }
    const [url = ""] = /https?:\/\/[^/\s]+/.exec(printed) ?? [];
    const [curl = ""] = /curl .*$/m.exec(printed) ?? [];
    await use(url, curl);
  } finally {
    clearTimeout(timer);
    child.kill("SIGTERM");
    await closed;
  }
}

/** Runs a command line in a shell, as a reader who copies it. */
export async function runLine(line: string, folder: string): Promise<string> {
  return run("sh", ["-c", line], folder);
}

/** The version of a package that is installed in a folder. */
export async function installedVersion(folder: string, name: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8")).version;
}
