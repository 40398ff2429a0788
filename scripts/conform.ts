import { writeFile } from "node:fs/promises";
import { type CommandOptions, ConformError, readOptions, USAGE } from "./lib/conform/options.ts";
import { countOutcomes } from "./lib/conform/report.ts";
import { toJson, toJunit } from "./lib/conform/report-files.ts";
import { runConformance } from "./lib/conform/run.ts";
import { createTerminal } from "./lib/conform/terminal.ts";

/* Holds any server to the contract, from outside. Exits with 0 when nothing failed, 1 when something did, 2 when it can't run. */
try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === "help") process.stdout.write(USAGE);
  else await run(options);
} catch (error) {
  if (!(error instanceof ConformError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
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
