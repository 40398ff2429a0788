import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { ROOT } from "./root.ts";

/** The arguments with which Node runs the Redocly command line. */
export const REDOCLY = [createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js")];

/** Runs the Redocly command line, which has no JavaScript interface, and resolves with its standard output. */
export async function runRedocly(args: readonly string[], { cwd = ROOT } = {}): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  try {
    const command = [...REDOCLY, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, command, { cwd, env, maxBuffer: 2 ** 24 });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`redocly ${args[0]} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
