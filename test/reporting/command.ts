import { writeFile } from "node:fs/promises";
import { CommanderError } from "@commander-js/extra-typings";
import { CannotRun } from "./options.ts";
import { countOutcomes, type Report } from "./report.ts";

/** Runs a command that exits with 2, and prints why, when it can't run. */
export async function runCommand(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CannotRun) process.stderr.write(`${error.message}\n`);
    else if (!(error instanceof CommanderError)) throw error;
    // Commander has printed its error already, or the help.
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 2;
  }
}

/**
 * Writes the reports whose files the options name, and sets the exit code: 1 when a check has failed, otherwise 0.
 *
 * @param files by option, such as `--junit`
 */
export async function writeReports(
  report: Report,
  files: Readonly<Record<string, { readonly file: string | undefined; readonly toText: () => string }>>,
): Promise<void> {
  for (const [option, { file, toText }] of Object.entries(files)) {
    if (file === undefined) continue;
    await writeFile(file, toText()).catch((error: Error) => {
      throw new CannotRun(`The report of ${option} can't be written: ${error.message}.`);
    });
  }
  process.exitCode = countOutcomes(report).failed > 0 ? 1 : 0;
}
