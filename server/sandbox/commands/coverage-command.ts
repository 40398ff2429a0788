import { InvalidArgumentError } from "@commander-js/extra-typings";
import { defineProgram } from "../../process/command-line.ts";
import { createCalls, type Result, SandboxCallError } from "../calls.ts";
import { fetchInTime, withSandboxOptions } from "./options.ts";

type Coverage = Result<"getCoverage">;

type Choice = { url: string; token: string; failUnder?: number | undefined };

/** Defines the command that prints the coverage of a running sandbox. */
export function defineCoverage() {
  const command = defineProgram(
    "coverage",
    "Prints which elements of the contract a merchant's calls and deliveries met in a running sandbox.",
  );
  return withSandboxOptions(command, "whose coverage")
    .option("--fail-under <percent>", "exit with 1 when fewer of a hundred elements were met", percent)
    .action(printCoverage);
}

/** Exits with 1 when the coverage is too low, and with 2 when there is none to print. */
async function printCoverage({ url, token, failUnder }: Choice): Promise<void> {
  try {
    const coverage = await createCalls(url, token, fetchInTime).coverage();
    process.stdout.write(toReport(coverage));
    if (failUnder === undefined || coverage.percent >= failUnder) return;
    process.stderr.write(`The coverage of ${coverage.percent} % is under ${failUnder} %.\n`);
    process.exitCode = 1;
  } catch (error) {
    const why =
      error instanceof SandboxCallError && error.status !== 404 && error.problem.detail
        ? error.message
        : `There is no sandbox at ${url}. Start one, or name it by --url.`;
    process.stderr.write(`${why}\n`);
    process.exitCode = 2;
  }
}

function percent(text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0 to 100.");
}

function toReport({ percent: all, met, total, kinds, items }: Coverage): string {
  const line = (label: string, one: { met: number; total: number }) =>
    `${label.padEnd(12)}${`${one.met} of ${one.total}`.padStart(12)}\n`;
  const missing = items
    .filter(({ count }) => count === 0)
    .map(({ kind, name }) => `  ${kind.padEnd(12)}${name}\n`);
  return [
    ...kinds.map((one) => line(one.kind, one)),
    line("all", { met, total }).trimEnd(),
    `  ${all} %\n`,
    ...(missing.length > 0 ? ["\nNot met:\n", ...missing] : []),
  ].join("");
}
