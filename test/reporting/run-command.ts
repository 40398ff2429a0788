/** What both kits' commands share: from the options to the reports and the exit code. */
import { writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { CommanderError } from "@commander-js/extra-typings";
import type { Report } from "./json-junit-html.ts";
import { CannotRun } from "./option-readers.ts";

/** A Ctrl-C comes twice, from the terminal and from npm; a later signal is another one. */
const SAME_SIGNAL_MS = 1_000;

/**
 * Runs a command. If it can't run, prints why, and exits with 2. SIGINT and SIGTERM abort the signal that it gets; the exit code is
 * then that of a program which they ended, such as 130.
 */
export async function runCommand(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  let stoppedAt = 0;
  const onSignal = (name: "SIGINT" | "SIGTERM") => {
    if (!stop.signal.aborted) {
      stoppedAt = performance.now();
      process.stderr.write("\nStopping after the check that runs. Press Ctrl-C again to stop at once.\n");
      stop.abort(name);
    } else if (performance.now() - stoppedAt > SAME_SIGNAL_MS) {
      process.exit(128 + constants.signals[name]);
    }
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    await run(stop.signal);
    if (stop.signal.aborted) process.exitCode = 128 + constants.signals[stop.signal.reason as "SIGINT"];
  } catch (error) {
    if (error instanceof CannotRun) process.stderr.write(`${error.message}\n`);
    else if (!(error instanceof CommanderError)) throw error;
    // Commander has printed its error already, or the help.
    process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 2;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

/**
 * Writes the reports whose files the options name, each whatever becomes of the others, and sets the exit code: 1 when a check
 * has failed, 3 when one was not run for want of an option that `without` does not declare, otherwise 0.
 *
 * @param files by option, such as `--junit`
 */
export async function writeReports(
  report: Report,
  files: Readonly<Record<string, { readonly file: string | undefined; readonly toText: () => string }>>,
  without?: readonly string[],
): Promise<void> {
  const problems: string[] = [];
  for (const [option, { file, toText }] of Object.entries(files)) {
    if (file === undefined) continue;
    await writeFile(file, toText()).catch((error: Error) => {
      problems.push(`The report of ${option} can't be written: ${error.message}.`);
    });
  }
  if (problems.length > 0) throw new CannotRun(problems.join("\n"));
  const undeclared = report.results.some(({ missing }) =>
    missing.some((option) => !without?.includes(option)),
  );
  process.exitCode = report.results.some(({ outcome }) => outcome === "failed")
    ? 1
    : without && undeclared
      ? 3
      : 0;
}
