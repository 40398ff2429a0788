import { writeFile } from "node:fs/promises";
import { type CommandOptions, ConformError, type ConformOptions, readOptions } from "./options.ts";
import { countOutcomes, toJson, toJunit } from "./report.ts";
import { runConformance } from "./run.ts";
import { createTerminal } from "./terminal.ts";

/** Tests a service against the contract with another tool; resolves with the output. */
export type ContractTester = (
  options: ConformOptions,
) => Promise<{ readonly lines: readonly string[]; readonly failed: number }>;

/**
 * Runs the command that tests any server against the contract from the outside. The exit code of the process is 0 when nothing
 * failed, 1 when something failed, and 2 when it can't run.
 *
 * @param name how it is run, such as `npm run conform --`
 * @param testers third-party contract testers by name, which `--with` runs in place of our checks
 */
export async function runConform(
  name: string,
  testers: Readonly<Record<string, ContractTester>> = {},
): Promise<void> {
  try {
    const options = readOptions(process.argv.slice(2), name, Object.keys(testers));
    if (options === "help") return;
    const tester = options.with === undefined ? undefined : testers[options.with];
    await (tester ? runOther(tester, options) : run(options));
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

async function runOther(test: ContractTester, options: CommandOptions): Promise<void> {
  const { lines, failed } = await test(options);
  process.stdout.write(`${lines.join("\n")}\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

async function write(option: string, file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error: Error) => {
    throw new ConformError(`The report of ${option} can't be written: ${error.message}.`);
  });
}
