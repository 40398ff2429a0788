import { writeFile } from "node:fs/promises";
import { type CommandOptions, ConformError, readOptions } from "./options.ts";
import { countOutcomes, toJson, toJunit } from "./report.ts";
import { runConformance } from "./run.ts";
import { createTerminal } from "./terminal.ts";

/**
 * Runs the command that tests any server against the contract from the outside. The exit code of the process is 0 when nothing
 * failed, 1 when something failed, and 2 when it can't run.
 *
 * @param name how it is run, such as `npm run conform --`
 */
export async function runConform(name: string): Promise<void> {
  try {
    const options = readOptions(process.argv.slice(2), name);
    if (options !== "help") await run(options);
  } catch (error) {
    if (!(error instanceof ConformError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

async function run({ junit, json, ...options }: CommandOptions): Promise<void> {
  const terminal = createTerminal(process.stdout);
  const report = await runConformance(options, terminal);
  terminal.end(report);
  if (junit !== undefined) await write("--junit", junit, toJunit(report));
  if (json !== undefined) await write("--json", json, toJson(report));
  process.exitCode = countOutcomes(report).failed > 0 ? 1 : 0;
}

async function write(option: string, file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: Error) => {
    throw new ConformError(`The report of ${option} can't be written: ${error.message}.`);
  });
}
