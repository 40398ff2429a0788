import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { defineProgram } from "../../process/program.ts";
import { createCalls, type Result, SandboxCallError } from "../calls.ts";

type Coverage = Result<"getCoverage">;

/**
 * Prints the coverage of a running sandbox. Exits with 1 when it is too low, and with 2 when there is none to print.
 *
 * @param name how it is run, such as `npx @refund-contract/sandbox coverage`
 * @param args what stands after the name
 */
export async function runCoverage(name: string, args: readonly string[]): Promise<void> {
  const { url, token, failUnder } = readOptions(name, args);
  try {
    const coverage = await createCalls(url, token).coverage();
    process.stdout.write(toReport(coverage));
    if (failUnder === undefined || coverage.percent >= failUnder) return;
    process.stderr.write(`The coverage of ${coverage.percent} % is under ${failUnder} %.\n`);
    process.exitCode = 1;
  } catch (error) {
    const why =
      error instanceof SandboxCallError
        ? error.message
        : `There is no sandbox at ${url}. Start one, or name it by --url.`;
    process.stderr.write(`${why}\n`);
    process.exitCode = 2;
  }
}

function readOptions(name: string, args: readonly string[]) {
  return defineProgram(
    name,
    "Prints which elements of the contract a merchant's calls and deliveries met in a running sandbox.",
  )
    .addOption(
      new Option("--url <url>", "where the sandbox is").env("SANDBOX_URL").default("http://127.0.0.1:3000"),
    )
    .addOption(new Option("--token <token>", "whose coverage").env("SANDBOX_TOKEN").default("sandbox_acme"))
    .option("--fail-under <percent>", "exit with 1 when fewer of a hundred elements were met", percent)
    .parse(args, { from: "user" })
    .opts();
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
