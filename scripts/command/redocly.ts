import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The folder of the project. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const CLI = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");

/**
 * Runs the Redocly command line in the project's folder, without telemetry and update checks. It has no JavaScript
 * interface. Rejects with its output when it fails.
 */
export async function runRedocly(args: string[]): Promise<void> {
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  try {
    await promisify(execFile)(process.execPath, [CLI, ...args], { cwd: ROOT, env });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`redocly ${args[0]} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** The time since `start` as text, in seconds. */
export function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}
