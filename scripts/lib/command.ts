import { Command, InvalidArgumentError } from "@commander-js/extra-typings";

/**
 * Begins the definition of the command that `npm run <name>` runs. Its help comes from the definition: `--help` prints it and
 * exits with 0; an unknown option, a missing value or a bad one prints the error and the help, and exits with 2.
 */
export function defineCommand(name: string, description: string): Command {
  return defineProgram(`npm run ${name} --`, description);
}

/** The same for a command of a package, such as `npx @refund-contract/conformance`. */
export function defineProgram(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .configureHelp({ helpWidth: 120 })
    .showHelpAfterError()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/** Makes a parser for the value of an option that is a whole number in a range. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** The value of `--seed`: the same seed makes the same random choices again. */
export const seedNumber = wholeNumber(0, 999_999_999);

export function randomSeed(): number {
  return Date.now() % 1_000_000_000;
}

/** Collects the values of an option that may be given several times. */
export function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}
