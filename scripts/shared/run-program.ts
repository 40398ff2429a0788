/** Runs another program, such as npm or tsc, and takes its output. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const LIMIT_MS = 300_000;

/** Runs a program in a folder. Resolves with its output, without the last line break; rejects with it when the program fails. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  // The variables that npm sets for its scripts, above all the folder, would mislead an inner npm.
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("npm_"));
  try {
    const quiet = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
    const env = { ...Object.fromEntries(kept), ...quiet };
    const options = { cwd, env, timeout: LIMIT_MS, maxBuffer: 2 ** 24 };
    const { stdout } = await promisify(execFile)(command, args, options);
    return stdout.trimEnd();
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
