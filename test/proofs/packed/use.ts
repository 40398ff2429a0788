import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../../../scripts/packages/run.ts";
import { startServerProcess } from "../../helpers/process.ts";

/** The environment of a reader's shell, without the variables that npm adds to ours. */
const READER_ENV = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"))),
  NODE_OPTIONS: "",
} as Record<string, string>;

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
  command: readonly string[],
  folder: string,
  use: (url: string, curl: string) => Promise<void>,
): Promise<void> {
  await using program = await startServerProcess({ command, cwd: folder, env: READER_ENV });
  const [curl = ""] = /curl .*$/m.exec(program.welcome) ?? [];
  await use(program.url, curl);
  await program.stop();
}

/** Runs a command line in a shell, as a reader who copies it. */
export async function runLine(line: string, folder: string): Promise<string> {
  return run("sh", ["-c", line], folder);
}

/** The version of a package that is installed in a folder. */
export async function installedVersion(folder: string, name: string): Promise<string> {
  return JSON.parse(await readFile(join(folder, "node_modules", name, "package.json"), "utf8")).version;
}
